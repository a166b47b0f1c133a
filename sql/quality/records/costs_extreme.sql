-- costs_extreme: attempts that cost over 100 times what 95 % of another archive's cost, of any; with one archive, of its own.
-- grain: archive
with usual as (
    select
        archive,
        quantile_disc(completion_tokens, 0.95) as cost,
    from attempts
    group by archive
),
limits as (
    select
        usual.archive,
        100 * coalesce(max(others.cost), any_value(usual.cost)) as cost,
    from usual
    left join usual as others on usual.archive <> others.archive
    group by usual.archive
)
select
    attempts.archive,
    count(*) filter (attempts.completion_tokens > limits.cost) as count,
    count(*) as total,
from attempts
inner join limits on attempts.archive = limits.archive
group by attempts.archive
