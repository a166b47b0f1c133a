-- finding_dominant_effect: what the change at an archive's smallest budget is made of, and its
--     largest part; null where nothing changed.
-- grain: archive
select
    main.*,
    'transitions' as source,
    transitions.selector,
    transitions.abstain_to_correct,
    transitions.wrong_to_correct,
    transitions.correct_to_wrong,
    greatest(abstain_to_correct, wrong_to_correct, correct_to_wrong) as largest,
    case
        when largest = 0 then null
        when largest = abstain_to_correct then 'abstain_to_correct'
        when largest = wrong_to_correct then 'wrong_to_correct'
        else 'correct_to_wrong'
    end as effect,
from main
inner join transitions on main.archive = transitions.archive and main.budget = transitions.budget
where
    transitions.selector = (select value from settings where key = 'primary_selector')
    and (main.archive, main.budget) in (
        select (archive, min(budget)) from main where delta is not null group by archive
    )
order by main.archive
