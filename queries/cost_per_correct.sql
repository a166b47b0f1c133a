-- What does a correct answer cost under each rule?
select
    selections.archive,
    selections.budget,
    selections.rule,
    count(*) as replays,
    count(*) filter (selections.correct) as correct_answers,
    round(100.0 * count(*) filter (selections.correct) / count(*), 2) as accuracy,
    round(sum(replays.cost) / count(*), 2) as tokens_per_replay,
    round(sum(replays.cost) / nullif(count(*) filter (selections.correct), 0), 2)
        as tokens_per_correct,
    round(
        sum(replays.cost + replays.prompt_tokens)
            / nullif(count(*) filter (selections.correct), 0),
        2
    ) as tokens_per_correct_with_prompts,
from selections
inner join replays using (archive, competition, question_id, repeat, cap, budget, rule)
where
    selections.repeat > 0
    and selections.cap = (select value::integer from settings where key = 'primary_cap')
    and selections.selector = (select value from settings where key = 'primary_selector')
group by selections.archive, selections.budget, selections.rule
order by selections.archive, selections.budget, selections.rule
