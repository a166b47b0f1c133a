-- page_attempts: one row per attempt with what a page shows of it: its cost, where its steps end, which an
--     attempt of one step has none of, and its label, of which a missing one is 2.
-- grain: bank_id, slot
with ends as (
    select
        bank_id,
        slot,
        list(step_end order by step_end) as step_ends,
    from step_ends
    where bank_id in (select unnest($banks::bigint[]))
    group by bank_id, slot
)
select
    candidates.bank_id,
    candidates.slot,
    candidates.seed::varchar as seed,
    candidates.cost,
    coalesce(len(ends.step_ends), 0) as step_count,
    coalesce(ends.step_ends, []) as step_end,
    candidates.finish_reason as finish,
    candidates.answer,
    candidates.archive_answer,
    coalesce(grades.correct::utinyint, 2) as label,
    if(grades.correct is null, 2, coalesce(grades.repaired_correct, false)::utinyint) as repaired,
    -- What prompts cost by the prices of the run, in millionths of a millionth. In another unit than tokens
    -- nobody knows how much of a cut attempt was paid, and of an attempt's steps only some are begun.
    case
        when (select value from settings where key = 'unit') = 'completion' and not exists (from ends)
        then (
            prices.input::hugeint * (candidates.prompt_tokens - candidates.cached_tokens)
            + prices.cached_input::hugeint * candidates.cached_tokens
        )::double
    end as prompt_money,
from candidates
inner join banks on candidates.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
left join ends
    on candidates.bank_id = ends.bank_id
    and candidates.slot = ends.slot
left join prices on archives.archive = prices.archive
left join grades
    on archives.archive = grades.archive
    and problems.competition = grades.competition
    and problems.question_id = grades.question_id
    and candidates.seed = grades.seed
where candidates.bank_id in (select unnest($banks::bigint[]))
order by candidates.bank_id, candidates.slot
