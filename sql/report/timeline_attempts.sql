-- timeline_attempts: the attempts of one order: where each and its steps start and end, its answer,
--     and whether it may be picked; an attempt of one step has no steps of its own.
-- grain: position
with problem_steps as (
    select
        candidates.seed,
        list(step_ends.step_end order by step_ends.step_end) as ends,
    from step_ends
    inner join candidates
        on step_ends.bank_id = candidates.bank_id
        and step_ends.slot = candidates.slot
    inner join banks on candidates.bank_id = banks.bank_id
    inner join archives on banks.archive_id = archives.archive_id
    inner join problems on banks.problem_id = problems.problem_id
    where
        archives.archive = $archive
        and problems.competition = $competition
        and problems.question_id = $question_id
    group by candidates.seed
)
select
    prefixes.position,
    prefixes.seed,
    prefixes.cost,
    prefixes.cumulative_cost - prefixes.cost as start,
    prefixes.cumulative_cost as stop,
    prefixes.eligible_count > lag(prefixes.eligible_count) over (order by prefixes.position) as eligible,
    attempts.finish_reason,
    case (select votes_on from used_selectors where is_primary)
        when 'archive_answer' then attempts.archive_answer
        else attempts.answer
    end as answer,
    -- Sums of printed amounts may miss by a hair, whole numbers do not.
    list_transform(
        coalesce(problem_steps.ends, []),
        lambda step_end: (round((prefixes.cumulative_cost - prefixes.cost) * unit.scale) + step_end) / unit.scale
    ) as steps,
from prefixes
cross join unit
left join attempts using (archive, competition, question_id, seed)
left join problem_steps on prefixes.seed = problem_steps.seed
where
    archive = $archive
    and competition = $competition
    and question_id = $question_id
    and repeat = $repeat
    and prefixes.position <= $cap
qualify prefixes.position > 0
order by prefixes.position
