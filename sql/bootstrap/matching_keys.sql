-- matching_keys: an advisory budget's totals as lists by problem, and the first and last block of
--     the archive's walks.
-- grain: key_id
select
    *,
    row_number() over (order by archive, advisory_budget)::integer as key_id,
    -- Keys with the same problems share their counts.
    dense_rank() over (order by problem_ids)::integer as problem_set,
    -- Budgets that cost the same at every problem share a search: a cap may end every walk before they do.
    dense_rank() over (order by archive, problem_ids, high_cost, low_cost)::integer as cost_id,
from (
    select
        rule_totals.archive,
        rule_totals.budget as advisory_budget,
        any_value(blocks.first) as first,
        any_value(blocks.last) as last,
        any_value(rule_totals.replays) as replays,
        count(rule_totals.correct) > 0 as is_graded,
        list(rule_totals.problem_id order by rule_totals.problem_id) as problem_ids,
        list(coalesce(rule_totals.correct, 0)::double order by rule_totals.problem_id) as correct,
        -- Two parts that have exact doubles.
        list((rule_totals.cost::hugeint >> 26)::double order by rule_totals.problem_id) as high_cost,
        list((rule_totals.cost::hugeint & 67108863)::double order by rule_totals.problem_id) as low_cost,
    from rule_totals
    inner join (select archive, min(block) as first, max(block) as last from walk_blocks group by archive) as blocks
        on rule_totals.archive = blocks.archive
    where rule_totals.rule = 'advisory'
    group by rule_totals.archive, rule_totals.budget
)
