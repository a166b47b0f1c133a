-- problem_strata: what the advisory rule gains and costs more at one problem, under the half of the archive's problems that it belongs to.
-- grain: archive, stratum, budget, problem_id
select
    problem_pairs.archive,
    problem_pairs.problem_id,
    length_halves.stratum,
    problem_pairs.budget,
    problem_pairs.replays,
    problem_pairs.advisory_correct - problem_pairs.strict_correct as gained,
    problem_pairs.advisory_cost - problem_pairs.strict_cost as extra_cost,
from problem_pairs
inner join length_halves on problem_pairs.bank_id = length_halves.bank_id
