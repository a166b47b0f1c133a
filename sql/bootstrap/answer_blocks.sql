-- answer_blocks: the strict changes of the primary selector's correct answers by ascending budget,
--     32 to a block, with the place of each one's problem among those of the archive, and how many
--     orders are correct before the block, as a list by problem.
-- grain: archive, block
{% set more = more | default("") %}
{% set of_blocks = ", blocks.terminal" if more else "" %}
with members as (
    select archive, problem_id, dense_rank() over (partition by archive order by problem_id) as problem,
    from (select distinct archive, problem_id from rule_totals)
),
blocks as (
    select
        archive{{ more }},
        block,
        min(budget) as budget,
        list({'problem': problem, 'budget': budget, 'correct_change': correct_change} order by budget, problem) as answers,
    from (
        select
            *,
            (row_number() over (partition by archive{{ more }} order by budget, problem) - 1) // 32 as block,
        from {{ answers | default("matching_answers") }}
        inner join members using (archive, problem_id)
    )
    group by archive{{ more }}, block
),
before as (
    select
        blocks.archive{{ of_blocks }},
        blocks.block,
        coalesce(sum(sums.correct) over (
            partition by blocks.archive{{ of_blocks }}, members.problem order by blocks.block
            rows between unbounded preceding and 1 preceding
        ), 0)::double as correct,
        members.problem,
    from blocks
    inner join members on blocks.archive = members.archive
    left join (
        select archive{{ more }}, block, answer.problem as problem, sum(answer.correct_change) as correct,
        from (select archive{{ more }}, block, unnest(answers) as answer from blocks)
        group by archive{{ more }}, block, answer.problem
    ) as sums
        on blocks.archive = sums.archive
{% if more %}
        and blocks.terminal = sums.terminal
{% endif %}
        and blocks.block = sums.block
        and members.problem = sums.problem
)
select
    blocks.archive{{ of_blocks }},
    blocks.block,
    any_value(blocks.budget) as budget,
    any_value(blocks.answers) as answers,
    list(before.correct order by before.problem) as correct,
from blocks
inner join before
    on blocks.archive = before.archive
{% if more %}
    and blocks.terminal = before.terminal
{% endif %}
    and blocks.block = before.block
group by blocks.archive{{ of_blocks }}, blocks.block
-- Of blocks that start at the same budget the last one knows what the others say.
qualify row_number() over (partition by blocks.archive{{ of_blocks }}, any_value(blocks.budget) order by blocks.block desc) = 1
