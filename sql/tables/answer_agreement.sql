-- answer_agreement: how often both rules answer alike, without any label, and how large the leading answer's share of the votes is.
-- grain: archive, budget
with votes as (
    select
        stops.walk_id,
        stops.budget,
        stops.rule,
        prefix_selections.selected_prefix_id is null as is_abstention,
        case when used_selectors.votes_on = 'archive_answer' then chosen.archive_answer_id else chosen.answer_id end as vote,
        100 * prefix_votes.leader_votes / prefix_votes.eligible_count as share,
    from primary_stops as stops
    inner join prefix_votes on stops.returned_prefix_id = prefix_votes.prefix_id
    inner join prefix_selections on stops.returned_prefix_id = prefix_selections.prefix_id
    inner join used_selectors on prefix_selections.selector_id = used_selectors.selector_id
    left join walked_attempts as chosen on prefix_selections.selected_prefix_id = chosen.prefix_id
    where used_selectors.is_primary
)
select
    archives.archive,
    strict.budget,
    100 * count(*) filter (
        not strict.is_abstention and not advisory.is_abstention and strict.vote is not distinct from advisory.vote
    ) / count(*) as same_answer,
    100 * count(*) filter (
        not strict.is_abstention and not advisory.is_abstention and strict.vote is distinct from advisory.vote
    ) / count(*) as different_answer,
    100 * count(*) filter (strict.is_abstention and not advisory.is_abstention) / count(*) as strict_abstains,
    100 * count(*) filter (strict.is_abstention and advisory.is_abstention) / count(*) as both_abstain,
    -- Fractions are added in one order: the sum is the same on any number of threads.
    list_avg(list(strict.share order by strict.share) filter (not strict.is_abstention)) as strict_vote_share,
    list_avg(list(advisory.share order by advisory.share) filter (not advisory.is_abstention)) as advisory_vote_share,
from votes as strict
inner join votes as advisory
    on strict.walk_id = advisory.walk_id
    and strict.budget = advisory.budget
inner join bank_orders on strict.walk_id = bank_orders.walk_id
inner join banks on bank_orders.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
where strict.rule = 'strict' and advisory.rule = 'advisory' and bank_orders.repeat > 0
group by archives.archive, strict.budget
order by archives.archive, strict.budget
