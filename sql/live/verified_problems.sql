-- verified_problems: a problem of a live run beside the recorded order of its replay, with the
--     first attempt that they do not share, or what differs; problems that the live run lacks are
--     missing. A label that only one side has contradicts nothing, the last live attempt may be
--     cut, and a live run may abstain where its next step would have been free. Other attempts
--     are another sampling only where most attempts of the run are others.
-- grain: archive, competition, problem
with compared_attempts as (
    select
        live.*,
        theirs.seed as their_seed,
        theirs.completion_tokens as their_tokens,
        theirs.answer as their_answer,
        live.finish_reason <> 'stop'
        and live.completion_tokens <= theirs.completion_tokens
        and live.slot = max(live.slot) over problem as is_cut,
        (live.completion_tokens, live.finish_reason, live.answer)
        is not distinct from (theirs.completion_tokens, theirs.finish_reason, theirs.answer) as is_same,
        is_cut and live.completion_tokens = theirs.completion_tokens as is_free_next,
    from live_attempts as live
    left join full_attempts as theirs using (archive, competition, problem, slot)
    window problem as (partition by live.archive, live.competition, live.problem)
),
compared_banks as (
    select
        archive,
        competition,
        problem,
        count(*) as launched,
        count(*) filter (seed is distinct from their_seed or not (is_cut or is_same)) as others,
        bool_or(is_free_next) as is_free_next,
        arg_min(
            if(
                their_seed is null,
                format('attempt {} is in the live run alone', seed),
                format(
                    'attempt {} cost {} and answered {}, replayed: attempt {} cost {} and answered {}',
                    seed, completion_tokens, coalesce(answer, 'none'),
                    their_seed, their_tokens, coalesce(their_answer, 'none')
                )
            ),
            slot
        ) filter (seed is distinct from their_seed or not (is_cut or is_same)) as other_attempt,
    from compared_attempts
    group by archive, competition, problem
),
compared as (
    select
        archive,
        competition,
        problem,
        compared_banks.other_attempt,
        sum(compared_banks.others) over () > sum(compared_banks.launched) over () / 2 as is_other_sampling,
        live.archive is null as is_missing,
        -- What a live run holds was launched, whether the budget allowed it or not.
        compared_banks.launched as live_launched,
        live.cost as live_cost,
        live.answer as live_answer,
        live.correct as live_correct,
        theirs.launched,
        theirs.cost,
        theirs.answer,
        theirs.correct,
        concat_ws(
            '; ',
            case when live_launched <> theirs.launched then format('launched {}, replayed {}', live_launched, theirs.launched) end,
            case when live.cost <> theirs.cost then format('cost {}, replayed {}', live.cost::varchar, theirs.cost::varchar) end,
            case
                when live.answer is distinct from theirs.answer and not (live.answer is null and is_free_next)
                    then format('answer {}, replayed {}', coalesce(live.answer, 'none'), coalesce(theirs.answer, 'none'))
            end,
            case
                when live.correct <> theirs.correct and not (live.answer is null and is_free_next)
                    then format('correct {}, replayed {}', live.correct, theirs.correct)
            end
        ) as differences,
    from live_outcomes as live
    right join full_outcomes as theirs using (archive, competition, problem, repeat)
    left join compared_banks using (archive, competition, problem)
    where repeat = 0 and archive in (select archive from live_outcomes)
)
select
    archive,
    competition,
    problem,
    case
        when is_missing then 'missing'
        when other_attempt is not null and is_other_sampling then 'other attempts'
        when other_attempt is not null or differences <> '' then 'different'
        else 'equal'
    end as result,
    case when is_missing then 'the live run has no attempt at it' else coalesce(other_attempt, nullif(differences, '')) end as difference,
    live_launched,
    live_cost,
    live_answer,
    live_correct,
    launched,
    cost,
    answer,
    correct,
from compared
-- Problem 10 comes after problem 9.
order by archive, competition, length(problem), problem
