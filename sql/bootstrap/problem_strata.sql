-- problem_strata: what the advisory rule gains and costs more at one problem, under the half of the
--     archive's problems that it belongs to.
-- grain: archive, stratum, budget, problem_id
select
    paired_totals.archive,
    paired_totals.problem_id,
    length_halves.stratum,
    paired_totals.budget,
    paired_totals.replays,
    paired_totals.advisory_correct - paired_totals.strict_correct as gained,
    paired_totals.advisory_cost - paired_totals.strict_cost as extra_cost,
from paired_totals
inner join (
{% include 'diagnostics/length_halves.sql' %}

) as length_halves
    on paired_totals.bank_id = length_halves.bank_id
