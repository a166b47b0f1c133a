-- card_totals: integer totals of card_replays at one problem, and all costs for their quantiles;
--     correct answers and coverage are null without labels.
-- grain: archive, budget, rule, terminal, policy, problem_id
-- kept: on demand by walks
select
    archives.archive,
    banks.problem_id,
    banks.bank_size,
    totals.*,
from (
    select
        bank_id,
        budget,
        rule,
        terminal,
        policy,
        count(*) as replays,
        sum(is_correct::integer)::bigint as correct,
        sum(is_covered::integer)::bigint as covered,
        sum(cost)::bigint as cost,
        list(cost order by cost) as costs,
        sum(launched)::bigint as launched,
        sum(returned)::bigint as returned,
        sum(eligible)::bigint as eligible,
        count(*) filter (is_abstained) as abstained,
    from (
{% include 'evaluation/card_replays.sql' %}

    ) as card_replays
    group by bank_id, budget, rule, terminal, policy
) as totals
inner join banks on totals.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
