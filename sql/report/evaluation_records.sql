-- evaluation_records: the figures of an archive as an aggregate record of Every Eval Ever, from the
--     rows of budget_card and card_sources; what is null is left out, and a figure needs an accuracy.
-- grain: archive
with figures as (
    select
        archive,
        list({
            'evaluation_result_id': concat_ws(':', budget, unit, rule, coalesce(terminal, 'None'), policy, cap, selector, answer),
            'evaluation_name': competitions,
            'source_data': {'dataset_name': competitions, 'source_type': 'other'},
            'metric_config': {
                'metric_id': 'budget_audit.accuracy',
                'metric_name': 'accuracy under a cumulative budget',
                'metric_kind': 'accuracy',
                'metric_unit': 'percent',
                'metric_parameters': {
                    'budget': budget,
                    'unit': unit,
                    'rule': rule,
                    'terminal': terminal,
                    'policy': policy,
                    'cap': cap,
                    'selector': selector,
                    'answer': answer,
                },
                'lower_is_better': false,
                'score_type': 'continuous',
                'min_score': 0,
                'max_score': 100,
            },
            'score_details': {
                'score': accuracy,
                'details': {
                    'problems': problems::varchar,
                    'attempts': attempts::varchar,
                    'orders': orders::varchar,
                    'coverage': coverage::varchar,
                    'cost': cost::varchar,
                    'cost_p95': cost_p95::varchar,
                    'cost_ratio': cost_ratio::varchar,
                    'launched': launched::varchar,
                    'returned': returned::varchar,
                    'eligible': eligible::varchar,
                    'abstention': abstention::varchar,
                },
                'uncertainty': {
                    'num_samples': problems,
                    'num_bootstrap_samples': case when accuracy_low is not null then $replicates::integer end,
                    'confidence_interval': case
                        when accuracy_low is not null
                        then {
                            'lower': accuracy_low,
                            'upper': accuracy_high,
                            'confidence_level': 0.95,
                            'method': 'bootstrap over problems',
                        }
                    end,
                },
            },
        } order by number) filter (accuracy is not null) as figures,
    from (select *, row_number() over () as number from card_rows)
    left join (
        select archive, array_to_string(list_sort(list_distinct(flatten(list(competitions)))), ', ') as competitions,
        from card_files
        group by archive
    ) using (archive)
    group by archive
),
files as (
    select archive, map_from_entries(list((file, coalesce(sha256, '')) order by file)) as hashes,
    from card_files
    group by archive
)
select
    archive,
    json_merge_patch('{}', {
        'schema_version': '0.3.0',
        'evaluation_id': format('budget-audit/{}/{}', archive, $now),
        'retrieved_timestamp': $now,
        'source_metadata': {
            'source_name': 'budget-audit',
            'source_type': 'evaluation_run',
            'source_organization_name': 'unknown',
            'evaluator_relationship': 'other',
            'additional_details': hashes,
        },
        'eval_library': {'name': 'budget-audit', 'version': $version},
        'model_info': {'name': archive, 'id': archive},
        'evaluation_results': coalesce(list_transform(figures, lambda one: json_merge_patch('{}', one::json)), []),
    }::json)::varchar as record,
from figures
left join files using (archive)
order by archive
