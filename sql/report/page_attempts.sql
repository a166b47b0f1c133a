-- page_attempts: one row per attempt with what a page shows of it; a label that is missing is 2.
-- grain: bank_id, slot
select
    candidates.bank_id,
    candidates.slot,
    candidates.seed,
    candidates.cost,
    candidates.finish_reason,
    candidates.answer,
    candidates.archive_answer,
    coalesce(grades.correct::utinyint, 2) as label,
    if(grades.correct is null, 2, coalesce(grades.repaired_correct, false)::utinyint) as repaired,
    -- What prompts cost by the prices of the run, in millionths of a millionth, and a completion token.
    (
        prices.input::hugeint * (candidates.prompt_tokens - candidates.cached_tokens)
        + prices.cached_input::hugeint * candidates.cached_tokens
    )::double as prompt_money,
    prices.output::double as output_price,
from candidates
inner join banks on candidates.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
left join prices on archives.archive = prices.archive
left join grades
    on archives.archive = grades.archive
    and problems.competition = grades.competition
    and problems.question_id = grades.question_id
    and candidates.seed = grades.seed
where candidates.bank_id in (select unnest($banks::bigint[]))
order by candidates.bank_id, candidates.slot
