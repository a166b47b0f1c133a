-- at_k_totals: one problem's chances at k attempts: that any of k attempts, or all of them, are
--     eligible for the primary selector and labelled correct, over all orders; how many random
--     orders it answers correctly after k, and how many more after twice as many (null where those
--     are too many); and k times its mean cost.
-- grain: archive, k, problem_id
with chances as (
    select
        banks.bank_id,
        any_value(banks.bank_size) as size,
        count(*) filter (candidate_grades.is_correct and eligible.slot is not null) as correct,
        sum(candidates.cost) / count(*) as mean_cost,
        min(size) over archive as smallest,
    from banks
    inner join candidates on banks.bank_id = candidates.bank_id
    inner join candidate_grades
        on candidates.bank_id = candidate_grades.bank_id
        and candidates.slot = candidate_grades.slot
    left join eligible_attempts as eligible
        on candidates.bank_id = eligible.bank_id
        and candidates.slot = eligible.slot
        and eligible.is_primary
    group by banks.bank_id, banks.archive_id
    window archive as (partition by banks.archive_id)
),
answered as (
    select
        walks.bank_id,
        tries.k,
        count(*) as replays,
        count(candidate_grades.candidate_id) filter (candidate_grades.is_correct) as majority_correct,
    from walks
    cross join (
        select cap as k from caps where is_primary
        union
        select (2 ** unnest(range(31)))::integer as k
    ) as tries
    left join whole_primary_picks as picks
        on walks.walk_id = picks.walk_id
        and tries.k >= picks.from_position
        and tries.k < picks.until_position
    left join candidate_grades on picks.candidate_id = candidate_grades.candidate_id
    where walks.repeat > 0 and tries.k <= (select max(cap) from caps)
    group by walks.bank_id, tries.k
)
select
    graded_archives.archive,
    answered.k,
    banks.problem_id,
    answered.replays,
    1 - list_product([(size - correct - n) / (size - n) for n in range(answered.k)]) as any_passes,
    abs(list_product([(correct - n) / (size - n) for n in range(answered.k)])) as all_pass,
    answered.majority_correct,
    case when doubled.k <= chances.smallest then doubled.majority_correct - answered.majority_correct end as gained,
    answered.k * chances.mean_cost as cost,
from answered
inner join chances on answered.bank_id = chances.bank_id
left join answered as doubled
    on answered.bank_id = doubled.bank_id
    and 2 * answered.k = doubled.k
inner join banks on answered.bank_id = banks.bank_id
inner join graded_archives on banks.archive_id = graded_archives.archive_id
where graded_archives.is_graded and answered.k <= chances.smallest
