-- replicate_terminal_cost: what a terminal answers in every replicate at the strict budget that costs
--     as much as an advisory one.
-- grain: archive, terminal, advisory_budget, replicate
with drawn as (
{% include 'bootstrap/drawn.jinja' %}

),
matches as materialized (
    from replicate_matches
)
select
    matches.archive,
    used_terminals.terminal,
    matches.advisory_budget,
    matches.key_id * 8 + used_terminals.terminal_id as key_id,
    matches.replicate,
    matches.replays,
    matches.advisory_cost,
    matches.advisory_correct,
    matches.strict_budget as budget,
    matches.strict_cost as cost,
    case
        when blocks.correct is null then 0
        else list_dot_product(blocks.correct, drawn.counts) + coalesce(list_sum([
            answer.correct_change * drawn.counts[answer.problem]
            for answer in blocks.answers if answer.budget <= matches.strict_budget
        ]), 0)
    end as correct,
from matches
inner join matching_keys as keys on matches.key_id = keys.key_id
inner join drawn
    on keys.problem_set = drawn.problem_set
    and matches.replicate = drawn.replicate
inner join used_terminals on used_terminals.terminal <> 'forced_after'
asof left join terminal_blocks as blocks
    on matches.archive = blocks.archive
    and used_terminals.terminal = blocks.terminal
    and matches.strict_budget >= blocks.budget
where matches.advisory_correct is not null
