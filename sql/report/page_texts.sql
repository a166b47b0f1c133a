-- page_texts: what every attempt wrote, in the order in which the page keeps attempts, where a tokenizer
--     has cut it, in tokens counted from its start, and which part of all texts the bank is in: parts are
--     $characters long.
-- grain: bank_id, slot
with cuts as (
    select
        archive,
        competition,
        question_id,
        seed,
        list(distinct remaining order by remaining) as cuts,
    from prefix_cuts
    where encoding = (select value from meta where key = 'encoding')
    group by archive, competition, question_id, seed
)
select
    candidates.bank_id,
    candidates.slot,
    texts.text,
    coalesce(cuts.cuts, []) as cuts,
    coalesce(sum(len(texts.text)) over (order by candidates.bank_id), 0) // $characters as part,
from candidates
inner join banks on candidates.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
left join texts
    on archives.archive = texts.archive
    and problems.competition = texts.competition
    and problems.question_id = texts.question_id
    and candidates.seed = texts.seed
left join cuts
    on archives.archive = cuts.archive
    and problems.competition = cuts.competition
    and problems.question_id = cuts.question_id
    and candidates.seed = cuts.seed
where list_contains($archives, archives.archive)
order by candidates.bank_id, candidates.slot
