-- power: the difference that these problems would show four times in five, and how many problems
--     would show one of --effect points: rules at the same budget (other and rule are null), and
--     archives under the same rule.
-- grain: archive, other, rule, budget
with compared as (
    select
        archive,
        null::varchar as other,
        null::varchar as rule,
        budget,
        draws::bigint as problems,
        delta,
        delta_error as error,
    from interval_gains
    where delta is not null
    union all
    select
        archive,
        other,
        rule,
        budget,
        draws::bigint as problems,
        delta,
        delta_error as error,
    from interval_comparisons
    where rule in ('strict', 'advisory') and delta is not null
)
select
    archive,
    other,
    rule,
    budget,
    problems,
    delta,
    error,
    -- 5 % two-sided and 80 %: quantiles of the normal distribution.
    (1.959963984540054 + 0.8416212335729143) * error as detectable,
    case
        when error > 0
        -- A whole number that rounding has pushed up a hair stays itself.
        then ceil(problems * pow(detectable / (select value::double from settings where key = 'effect'), 2) * (1 - 1e-12))
    end::bigint as problems_needed,
from compared
order by archive, other nulls first, rule, budget
