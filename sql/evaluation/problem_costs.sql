-- problem_costs: integer totals of an archive at one problem over its random orders at the primary cap, whatever the selector.
-- grain: archive, competition, question_id, budget, rule
with totals as (
    select
        ledger.bank_id,
        ledger.budget,
        ledger.rule,
        count(*) as replays,
        sum(ledger.is_covered::integer)::bigint as covered,
        sum(ledger.launched)::bigint as launched,
        sum(ledger.completion_cost)::bigint as completion_cost,
        sum(ledger.prompt_cost)::bigint as prompt_cost,
        sum(ledger.prefix_tokens)::bigint as prefix_tokens,
    from ledger
    inner join caps on ledger.cap = caps.cap
    semi join portion on ledger.walk_id = portion.walk_id
    where caps.is_primary and ledger.repeat > 0
    group by ledger.bank_id, ledger.budget, ledger.rule
)
select
    archives.archive,
    problems.competition,
    problems.question_id,
    problems.problem_id,
    totals.*,
from totals
inner join banks on totals.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
