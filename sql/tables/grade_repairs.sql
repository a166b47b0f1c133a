-- grade_repairs: how many labels the repair changes in an archive, and how many conflict groups it resolves.
-- grain: archive
with conflicts as (
{% include 'tables/grade_conflicts.sql' %}
),
conflict_counts as (
    select
        archive,
        count(*) as conflict_groups,
        count(*) filter (resolved) as resolved_groups,
    from conflicts
    group by archive
)
select
    grades.archive,
    count(*) filter (grades.correct <> grades.repaired_correct) as adjusted_labels,
    coalesce(any_value(conflict_counts.conflict_groups), 0) as conflict_groups,
    coalesce(any_value(conflict_counts.resolved_groups), 0) as resolved_groups,
from grades
left join conflict_counts on grades.archive = conflict_counts.archive
anti join unreplayed_problems as unreplayed
    on grades.archive = unreplayed.archive
    and grades.competition = unreplayed.competition
    and grades.question_id = unreplayed.question_id
group by grades.archive
having bool_and(grades.correct is not null)
order by grades.archive
