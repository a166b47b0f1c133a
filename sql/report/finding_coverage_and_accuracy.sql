-- finding_coverage_and_accuracy: where a selector loses accuracy while coverage rises, the clearest
--     loss of an archive first; then the budget at which coverage outruns the primary selector most.
-- grain: archive, source, budget, selector
with graded as (
    select * from main where delta is not null
),
losses as (
    select
        selectors.*,
        graded.delta_coverage as gain,
        coalesce(selectors.delta_low > 0 or selectors.delta_high < 0, false) as is_clear,
    from selectors
    inner join graded on selectors.archive = graded.archive and selectors.budget = graded.budget
    where selectors.delta < 0 and graded.delta_coverage > 0
),
gaps as (
    select *
    from graded
    qualify row_number() over (partition by archive order by gap_change desc, budget) = 1
)
select * from (
    select *, 'selectors' as source from losses
    union all by name
    select *, 'main' as source from gaps
)
order by archive, source desc, is_clear desc, delta, budget, selector
