// openapi.json 9336cb10260b7d88a973fb88c9dae3451957f446ea5db3e6903d90ce92301db1
export interface paths {
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Healthz
         * @description Return whether the process is alive.
         */
        get: operations["healthz_healthz_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Readyz
         * @description Return whether the database answers, and whether the disks have free space.
         */
        get: operations["readyz_readyz_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics
         * @description Return the metrics of this process for Prometheus.
         */
        get: operations["metrics_metrics_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Me
         * @description Return the caller, its scopes, and the limits of this service.
         */
        get: operations["me_api_v2_me_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/definitions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Definitions
         * @description Return what each metric and each loss reason means.
         */
        get: operations["get_definitions_api_v2_definitions_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open Session
         * @description Open a session: the token of this request becomes a cookie that scripts cannot read.
         *
         *     A browser sends no header of its own with an event stream or a WebSocket.
         */
        post: operations["open_session_api_v2_session_post"];
        /**
         * Close Session
         * @description Close the session and delete its cookie.
         */
        delete: operations["close_session_api_v2_session_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/evaluate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Evaluate
         * @description Return the NDCG of a ranking at each cut-off, and of a second ranking if there is one.
         */
        post: operations["evaluate_api_v2_evaluate_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/collections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Collections
         * @description List collections, the newest first.
         */
        get: operations["list_collections_api_v2_collections_get"];
        put?: never;
        /**
         * Create Collection
         * @description Create a collection from documents on the service's machine, or from an uploaded archive.
         *
         *     A job indexes them.
         */
        post: operations["create_collection_api_v2_collections_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/collections/{collection_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Collection
         * @description Return one collection with the state of its index; the service then loads it for searches.
         */
        get: operations["get_collection_api_v2_collections__collection_id__get"];
        put?: never;
        post?: never;
        /**
         * Delete Collection
         * @description Delete a collection and its uploaded documents, unless a dataset is mapped to it.
         */
        delete: operations["delete_collection_api_v2_collections__collection_id__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/collections/{collection_id}/reindex": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reindex Collection
         * @description Reindex a collection after its folder or its branch has changed.
         *
         *     A job does it. Mappings to documents that have changed must be resolved again; results stay
         *     those of the documents that they were measured on.
         */
        post: operations["reindex_collection_api_v2_collections__collection_id__reindex_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/collections/{collection_id}/documents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Documents
         * @description List documents by path; *q* is a part of the path, ignoring case.
         */
        get: operations["list_documents_api_v2_collections__collection_id__documents_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/collections/{collection_id}/documents/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read Document
         * @description Return the text of the document at a path of the list.
         */
        get: operations["read_document_api_v2_collections__collection_id__documents_content_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/collections/{collection_id}/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Collection Health
         * @description Return the waste in an index: empty, duplicate, oversized or never-retrieved chunks.
         */
        get: operations["collection_health_api_v2_collections__collection_id__health_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/collections/{collection_id}/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search Collection
         * @description Run one query in several modes, side by side.
         */
        post: operations["search_collection_api_v2_collections__collection_id__search_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmark-datasets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Datasets
         * @description List datasets, the newest first.
         */
        get: operations["list_datasets_api_v2_benchmark_datasets_get"];
        put?: never;
        /**
         * Upload Dataset
         * @description Upload a dataset in any format that Karat reads; problems are reported with their lines.
         */
        post: operations["upload_dataset_api_v2_benchmark_datasets_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmark-datasets/{dataset_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Dataset
         * @description Return one dataset.
         */
        get: operations["get_dataset_api_v2_benchmark_datasets__dataset_id__get"];
        put?: never;
        post?: never;
        /**
         * Delete Dataset
         * @description Delete a dataset with its mappings, unless a benchmark uses it.
         */
        delete: operations["delete_dataset_api_v2_benchmark_datasets__dataset_id__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmark-datasets/{dataset_id}/queries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Queries
         * @description List queries with their judgments; *q* is a part of the text or the key, ignoring case.
         */
        get: operations["list_queries_api_v2_benchmark_datasets__dataset_id__queries_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmark-datasets/{dataset_id}/mappings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Mappings
         * @description List the mappings of a dataset, the newest first.
         */
        get: operations["list_mappings_api_v2_benchmark_datasets__dataset_id__mappings_get"];
        put?: never;
        /**
         * Create Mapping
         * @description Map a dataset to a collection; its references are not looked up yet.
         */
        post: operations["create_mapping_api_v2_benchmark_datasets__dataset_id__mappings_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmark-datasets/{dataset_id}/mappings/{mapping_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Mapping
         * @description Return one mapping.
         */
        get: operations["get_mapping_api_v2_benchmark_datasets__dataset_id__mappings__mapping_id__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmark-datasets/{dataset_id}/mappings/{mapping_id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resolve
         * @description Resolve all references to documents; many references are resolved by a job.
         */
        post: operations["resolve_api_v2_benchmark_datasets__dataset_id__mappings__mapping_id__resolve_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmark-datasets/{dataset_id}/mappings/{mapping_id}/unresolved": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Unresolved
         * @description Return the references that the last resolution left unresolved.
         */
        get: operations["unresolved_api_v2_benchmark_datasets__dataset_id__mappings__mapping_id__unresolved_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmark-datasets/{dataset_id}/mappings/{mapping_id}/references": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Bind
         * @description Bind an unresolved reference to a document by hand.
         */
        post: operations["bind_api_v2_benchmark_datasets__dataset_id__mappings__mapping_id__references_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmark-datasets/{dataset_id}/mappings/{mapping_id}/folders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Bind Moved Folder
         * @description Bind all unresolved references of a folder to the documents of another folder.
         */
        post: operations["bind_moved_folder_api_v2_benchmark_datasets__dataset_id__mappings__mapping_id__folders_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmarks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Benchmarks
         * @description List benchmarks, the newest first, optionally of one status.
         */
        get: operations["list_benchmarks_api_v2_benchmarks_get"];
        put?: never;
        /**
         * Create Benchmark
         * @description Create a benchmark of a matrix on a mapping; it runs when it is started.
         */
        post: operations["create_benchmark_api_v2_benchmarks_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmarks/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview Benchmark
         * @description List the runs of a matrix and the work that they share; nothing is created.
         */
        post: operations["preview_benchmark_api_v2_benchmarks_preview_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmarks/latest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Latest Benchmark
         * @description Return the newest benchmark.
         */
        get: operations["latest_benchmark_api_v2_benchmarks_latest_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmarks/{benchmark_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Benchmark
         * @description Return one benchmark with its status.
         */
        get: operations["get_benchmark_api_v2_benchmarks__benchmark_id__get"];
        put?: never;
        post?: never;
        /**
         * Delete Benchmark
         * @description Delete a benchmark with its results; one that is running must be cancelled first.
         */
        delete: operations["delete_benchmark_api_v2_benchmarks__benchmark_id__delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmarks/{benchmark_id}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start Benchmark
         * @description Start a benchmark, or continue one that has failed or was cancelled.
         */
        post: operations["start_benchmark_api_v2_benchmarks__benchmark_id__start_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmarks/{benchmark_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel Benchmark
         * @description Cancel a benchmark that is pending or running; completed runs are kept.
         */
        post: operations["cancel_benchmark_api_v2_benchmarks__benchmark_id__cancel_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmarks/{benchmark_id}/annotations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Annotate Benchmark
         * @description Add a remark to a benchmark.
         */
        post: operations["annotate_benchmark_api_v2_benchmarks__benchmark_id__annotations_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/examples": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create Example
         * @description Create the example benchmark, and start it as soon as its documents are indexed.
         *
         *     The request is idempotent: repeat it until *status* is not ``indexing``. Existing parts are
         *     reused, and deleted ones are created again.
         */
        post: operations["create_example_api_v2_examples_post"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/engines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Engines
         * @description List the engines that the service was started with, by the names for a matrix.
         */
        get: operations["list_engines_api_v2_engines_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmarks/{benchmark_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow Benchmark
         * @description Follow a benchmark, from its first event or from the one after Last-Event-ID.
         */
        get: operations["follow_benchmark_api_v2_benchmarks__benchmark_id__events_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/operations/{operation_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow Operation
         * @description Follow an operation: a started benchmark, or the job of a collection or mapping.
         */
        get: operations["follow_operation_api_v2_operations__operation_id__events_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmarks/{benchmark_id}/results": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Results
         * @description Return all runs; statistics are included once all runs have their scores.
         */
        get: operations["get_results_api_v2_benchmarks__benchmark_id__results_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmarks/{benchmark_id}/runs/{run_id}/queries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Run Queries
         * @description Return the results of one run, query by query.
         */
        get: operations["get_run_queries_api_v2_benchmarks__benchmark_id__runs__run_id__queries_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmarks/{benchmark_id}/comparison": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Comparison
         * @description Compare all runs with one of them by paired tests.
         */
        get: operations["get_comparison_api_v2_benchmarks__benchmark_id__comparison_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmarks/{benchmark_id}/matrix": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Matrix
         * @description Return the score of every query in every run.
         */
        get: operations["get_matrix_api_v2_benchmarks__benchmark_id__matrix_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmarks/{benchmark_id}/slices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Slices
         * @description Return the means over the queries with each value of a tag.
         */
        get: operations["get_slices_api_v2_benchmarks__benchmark_id__slices_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmarks/{benchmark_id}/curves": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Curves
         * @description Return measures against k.
         */
        get: operations["get_curves_api_v2_benchmarks__benchmark_id__curves_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmarks/{benchmark_id}/details": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Details
         * @description Return warnings, advice, ranks, latency, cost and method.
         */
        get: operations["get_details_api_v2_benchmarks__benchmark_id__details_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmarks/{benchmark_id}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Changes
         * @description Return how runs differ from earlier runs of the same name on the same documents.
         */
        get: operations["get_changes_api_v2_benchmarks__benchmark_id__changes_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmarks/{benchmark_id}/queries/{query_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Query
         * @description Return one query across all runs.
         */
        get: operations["get_query_api_v2_benchmarks__benchmark_id__queries__query_id__get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmarks/{benchmark_id}/report.html": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Report
         * @description Return the report as one file that needs nothing else.
         */
        get: operations["get_report_api_v2_benchmarks__benchmark_id__report_html_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmarks/{benchmark_id}/export.csv": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export Csv
         * @description Return the scores of all runs and queries as a table.
         */
        get: operations["export_csv_api_v2_benchmarks__benchmark_id__export_csv_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmarks/{benchmark_id}/export.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export Json
         * @description Return all data of a report as JSON.
         */
        get: operations["export_json_api_v2_benchmarks__benchmark_id__export_json_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare
         * @description Compare two runs, or the best runs of two benchmarks, by a paired test.
         */
        get: operations["compare_api_v2_compare_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/trend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Trend
         * @description Return the runs on a dataset over time, as scored when they ended.
         */
        get: operations["get_trend_api_v2_trend_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmark-datasets/{dataset_id}/unjudged": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Unjudged
         * @description List the unjudged hits of a benchmark, by default the newest.
         */
        get: operations["list_unjudged_api_v2_benchmark_datasets__dataset_id__unjudged_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmark-datasets/{dataset_id}/judgments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Put Judgment
         * @description Grade lines of a document; 409 if another judgment was made since *version*.
         */
        put: operations["put_judgment_api_v2_benchmark_datasets__dataset_id__judgments_put"];
        post?: never;
        /**
         * Undo Judgment
         * @description Undo the newest judgment that is valid; the history has both.
         */
        delete: operations["undo_judgment_api_v2_benchmark_datasets__dataset_id__judgments_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/benchmark-datasets/{dataset_id}/judgments/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List History
         * @description List all changes, the newest first.
         */
        get: operations["list_history_api_v2_benchmark_datasets__dataset_id__judgments_history_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v2/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Jump
         * @description Find benchmarks, datasets and collections by name or id, then queries and runs.
         *
         *     Queries are found by text or key, runs by name or id in the newest benchmarks.
         */
        get: operations["jump_api_v2_search_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * Annotation
         * @description A remark on a benchmark, shown where results are shown over time.
         */
        Annotation: {
            /** Id */
            id: number;
            /** Text */
            text: string;
            /** Owner Id */
            owner_id: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /**
         * AnnotationCreate
         * @description A remark to add to a benchmark.
         */
        AnnotationCreate: {
            /** Text */
            text: string;
        };
        /**
         * BeirSource
         * @description A BEIR folder below such a root; its queries may be uploaded as a dataset.
         */
        BeirSource: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "beir";
            /**
             * Path
             * @example /srv/beir/scifact
             */
            path: string;
        };
        /**
         * Benchmark
         * @description A benchmark with its status; *operation_uuid* names the operation of its last start.
         *
         *     *commit* is the revision searched, null before that and for documents outside a repository.
         *     *warning* is a sentence about more than 25 runs, else null. A run counts in *completed_runs* as
         *     soon as all its queries are scored; its latency may be measured after that. *best_run* is null
         *     before the first one. *error_message* is why it has failed. *queue_position* counts from 1 while
         *     it is queued, else it is null. While *is_stopping*, a worker has not yet noticed the
         *     cancellation, and it cannot be continued.
         */
        Benchmark: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Name */
            name: string;
            /** Description */
            description: string;
            /** Owner Id */
            owner_id: string;
            /**
             * Mapping Id
             * Format: uuid
             */
            mapping_id: string;
            /**
             * Dataset Id
             * Format: uuid
             */
            dataset_id: string;
            /** Dataset Name */
            dataset_name: string;
            /**
             * Collection Id
             * Format: uuid
             */
            collection_id: string;
            /** Collection Name */
            collection_name: string;
            /**
             * Status
             * @enum {string}
             */
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled";
            /** Error Message */
            error_message: string | null;
            /** Queue Position */
            queue_position: number | null;
            /** Is Stopping */
            is_stopping: boolean;
            /** Total Runs */
            total_runs: number;
            /** Completed Runs */
            completed_runs: number;
            /** Failed Runs */
            failed_runs: number;
            best_run: components["schemas"]["BestRun"] | null;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Started At */
            started_at: string | null;
            /** Completed At */
            completed_at: string | null;
            /** Operation Uuid */
            operation_uuid: string | null;
            commit: components["schemas"]["Commit"] | null;
            config_matrix: components["schemas"]["ConfigMatrix"];
            /**
             * Timing
             * @enum {string}
             */
            timing: "none" | "sample" | "all";
            /**
             * Judge Labels
             * @enum {string}
             */
            judge_labels: "exclude" | "include" | "only";
            /** Warning */
            warning: string | null;
            /** Annotations */
            annotations: components["schemas"]["Annotation"][];
        };
        /**
         * BenchmarkCreate
         * @description A benchmark to create; it runs when it is started.
         */
        BenchmarkCreate: {
            /**
             * Name
             * @example Dense against hybrid
             */
            name: string;
            /**
             * Description
             * @default
             */
            description: string;
            /**
             * Mapping Id
             * Format: uuid
             */
            mapping_id: string;
            config_matrix: components["schemas"]["ConfigMatrix"];
            /**
             * Top K
             * @default 10
             */
            top_k: number;
            /**
             * Metrics To Compute
             * @default [
             *       "precision",
             *       "recall",
             *       "mrr",
             *       "ndcg",
             *       "ap"
             *     ]
             */
            metrics_to_compute: string[];
            /**
             * Timing
             * @description Queries whose latency is measured: none, a sample of 20, or all
             * @default sample
             * @enum {string}
             */
            timing: "none" | "sample" | "all";
            /**
             * Judge Labels
             * @description Labels of models in the dataset: ignored, used for hits that nobody judged, or used alone
             * @default exclude
             * @enum {string}
             */
            judge_labels: "exclude" | "include" | "only";
        };
        /**
         * BenchmarkProgress
         * @description The progress of a benchmark; *stage* is that of its current run, or the end of the last one.
         *
         *     ``comparing`` comes when all runs have their scores, before latency is measured; ``explaining``
         *     comes after that, while loss reasons are computed.
         */
        BenchmarkProgress: {
            /**
             * Benchmark Id
             * Format: uuid
             */
            benchmark_id: string;
            /**
             * Status
             * @enum {string}
             */
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled";
            /**
             * Error Message
             * @default null
             */
            error_message: string | null;
            /** Total Runs */
            total_runs: number;
            /** Completed Runs */
            completed_runs: number;
            /** Failed Runs */
            failed_runs: number;
            /** Stage */
            stage: string;
            current_run: components["schemas"]["CurrentRun"] | null;
            last_completed_run: components["schemas"]["CompletedRun"] | null;
        };
        /**
         * BenchmarkStart
         * @description The status after a request to start or to cancel.
         */
        BenchmarkStart: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /**
             * Status
             * @enum {string}
             */
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled";
            /** Operation Uuid */
            operation_uuid: string | null;
            /** Message */
            message: string;
        };
        /**
         * Benchmarks
         * @description A page of benchmarks, the newest first.
         */
        Benchmarks: {
            /**
             * Total
             * @example 1
             */
            total: number;
            /**
             * Page
             * @example 1
             */
            page: number;
            /**
             * Per Page
             * @example 50
             */
            per_page: number;
            /** Benchmarks */
            benchmarks: components["schemas"]["Benchmark"][];
        };
        /**
         * BestRun
         * @description The run with the highest mean of the primary metric; the verdict says whether it is better.
         *
         *     *mean* is by the judgments that were there when the run was scored.
         */
        BestRun: {
            /** Run Id */
            run_id: string;
            /** Name */
            name: string;
            /** Metric */
            metric: string;
            /** Mean */
            mean: number;
        };
        /** Body_upload_dataset_api_v2_benchmark_datasets_post */
        Body_upload_dataset_api_v2_benchmark_datasets_post: {
            /** File */
            file: string;
            /** Name */
            name: string;
            /**
             * Description
             * @default
             */
            description: string;
        };
        /**
         * Change
         * @description How a run differs from an earlier one of the same name, on the queries of both.
         *
         *     *against* says which one: the last that had ended before, or the one that is pinned. Both are
         *     judged by the judgments as they are now, on the first measure. *altered* names what is known to
         *     differ beside the hits; *text* says all in one sentence.
         */
        Change: {
            /** Run Id */
            run_id: string;
            /** Run Name */
            run_name: string;
            /**
             * Against
             * @enum {string}
             */
            against: "previous" | "pinned";
            /** Earlier Run Id */
            earlier_run_id: string;
            /**
             * Earlier Benchmark Id
             * Format: uuid
             */
            earlier_benchmark_id: string;
            /** Earlier Benchmark Name */
            earlier_benchmark_name: string;
            /**
             * Ended At
             * Format: date-time
             */
            ended_at: string;
            /** Metric */
            metric: string;
            /** Queries */
            queries: number;
            /** Difference */
            difference: number | null;
            /** Interval */
            interval: [
                number,
                number
            ] | null;
            /** P */
            p: number | null;
            /** Significant */
            significant: boolean;
            /** Unchanged */
            unchanged: boolean;
            /** Wins */
            wins: number;
            /** Ties */
            ties: number;
            /** Losses */
            losses: number;
            /** Altered */
            altered: string[];
            /** Text */
            text: string;
        };
        /**
         * Changes
         * @description The changes of the runs of a benchmark; a run without an earlier one has none.
         */
        Changes: {
            /** Changes */
            changes: components["schemas"]["Change"][];
        };
        /**
         * Choices
         * @description Names of models for a matrix: packaged ones, and those that the service was started with.
         */
        Choices: {
            /** Models */
            models: string[];
            /** Rerankers */
            rerankers: string[];
            /** Contexts */
            contexts: string[];
        };
        /**
         * Collection
         * @description A collection; *operation_uuid* names the last indexing, whose events can be followed.
         */
        Collection: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Name */
            name: string;
            /** Description */
            description: string;
            /** Owner Id */
            owner_id: string;
            source: components["schemas"]["CollectionSource"];
            /**
             * Status
             * @enum {string}
             */
            status: "pending" | "indexing" | "ready" | "failed";
            /** Error Message */
            error_message: string | null;
            /** Chunker */
            chunker: string;
            dense: components["schemas"]["DenseIndex"];
            sparse: components["schemas"]["SparseIndex"];
            /** Document Count */
            document_count: number;
            /** Chunk Count */
            chunk_count: number;
            /**
             * Snapshot
             * @description SHA-256 over all paths and contents
             */
            snapshot: string | null;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Updated At
             * Format: date-time
             */
            updated_at: string;
            /** Operation Uuid */
            operation_uuid: string | null;
        };
        /**
         * CollectionCreate
         * @description A collection to create from documents on the service's machine.
         * @example {
         *       "description": "All pages of the handbook",
         *       "index": {
         *         "dense": true,
         *         "sparse": true
         *       },
         *       "name": "Handbook",
         *       "source": {
         *         "kind": "folder",
         *         "path": "/srv/handbook"
         *       }
         *     }
         */
        CollectionCreate: {
            /** Name */
            name: string;
            /**
             * Description
             * @default
             */
            description: string;
            /** Source */
            source: components["schemas"]["FolderSource"] | components["schemas"]["GitSource"] | components["schemas"]["BeirSource"];
            /**
             * @default {
             *       "kind": "all",
             *       "include": [],
             *       "exclude": []
             *     }
             */
            files: components["schemas"]["CollectionFiles"];
            /**
             * @default {
             *       "dense": true,
             *       "sparse": true,
             *       "chunker": "auto",
             *       "model": "granite"
             *     }
             */
            index: components["schemas"]["IndexOptions"];
        };
        /**
         * CollectionFiles
         * @description The files that belong to the collection: a kind, and globs with the syntax of .gitignore.
         */
        CollectionFiles: {
            /**
             * Kind
             * @default all
             * @enum {string}
             */
            kind: "docs" | "code" | "all";
            /**
             * Include
             * @default []
             * @example [
             *       "docs/**"
             *     ]
             */
            include: string[];
            /**
             * Exclude
             * @default []
             * @example [
             *       "*.lock"
             *     ]
             */
            exclude: string[];
        };
        /**
         * CollectionSearch
         * @description One query to run in several modes, side by side.
         */
        CollectionSearch: {
            /**
             * Query
             * @example where is the retry limit set
             */
            query: string;
            /**
             * Modes
             * @default [
             *       "hybrid"
             *     ]
             */
            modes: ("dense" | "sparse" | "hybrid")[];
            /**
             * Use Reranker
             * @default false
             */
            use_reranker: boolean;
            /**
             * Top K
             * @default 10
             */
            top_k: number;
        };
        /**
         * CollectionSearchResult
         * @description The hits of each mode, in the requested order.
         */
        CollectionSearchResult: {
            /** Query */
            query: string;
            /** Results */
            results: components["schemas"]["ModeHits"][];
        };
        /**
         * CollectionSource
         * @description Where the documents come from; an upload has neither path nor revision.
         */
        CollectionSource: {
            /**
             * Kind
             * @enum {string}
             */
            kind: "folder" | "git" | "beir" | "upload";
            /** Path */
            path: string | null;
            /** Revision */
            revision: string | null;
            files: components["schemas"]["CollectionFiles"];
        };
        /**
         * Collections
         * @description A page of collections, the newest first.
         */
        Collections: {
            /**
             * Total
             * @example 1
             */
            total: number;
            /**
             * Page
             * @example 1
             */
            page: number;
            /**
             * Per Page
             * @example 50
             */
            per_page: number;
            /** Collections */
            collections: components["schemas"]["Collection"][];
        };
        /**
         * Commit
         * @description The commit that was searched: the one of the collection, or the one checked out in it.
         */
        Commit: {
            /**
             * Id
             * @example 5d0c8a1e0c1c4a8f6d7b2f0e9a3b4c5d6e7f8091
             */
            id: string;
            /** Subject */
            subject: string;
            /**
             * Committed At
             * Format: date-time
             */
            committed_at: string;
        };
        /**
         * Comparison
         * @description All runs against one of them; *headline* is the outcome in one sentence.
         */
        Comparison: {
            /** Baseline */
            baseline: string;
            /** Metric */
            metric: string;
            /** Runs */
            runs: components["schemas"]["ComparisonRun"][];
            /** Headline */
            headline: string;
            /** Verdict */
            verdict: string;
        };
        /**
         * ComparisonRun
         * @description One run against the baseline, query by query; *p_corrected* accounts for all runs tested.
         *
         *     *low* and *high* bound the difference; *effect* is the standardised one.
         */
        ComparisonRun: {
            /** Run Id */
            run_id: string;
            /** Name */
            name: string;
            /** Mean */
            mean: number | null;
            /** Difference */
            difference: number | null;
            /** Low */
            low: number | null;
            /** High */
            high: number | null;
            /** P */
            p: number | null;
            /** P Corrected */
            p_corrected: number | null;
            /** Effect */
            effect: number | null;
            /** Improved */
            improved: number;
            /** Regressed */
            regressed: number;
            /** Tied */
            tied: number;
            /**
             * Verdict
             * @enum {string}
             */
            verdict: "better" | "worse" | "no difference shown" | "baseline";
        };
        /**
         * CompletedRun
         * @description The run that was scored last, or whose latency was measured last, with its scores.
         */
        CompletedRun: {
            /** Run Id */
            run_id: string;
            /** Run Order */
            run_order: number;
            config: components["schemas"]["RunConfig"];
            /** Config Summary */
            config_summary: string;
            /** Total Queries */
            total_queries: number;
            /** Completed Queries */
            completed_queries: number;
            /**
             * Stage
             * @enum {string}
             */
            stage: "completed" | "failed" | "cancelled";
            metrics: components["schemas"]["Metrics"] | null;
            /** Metrics Flat */
            metrics_flat: {
                [key: string]: number | null;
            } | null;
            timing: components["schemas"]["Timing"] | null;
            /**
             * Timing Status
             * @enum {string}
             */
            timing_status: "none" | "pending" | "done" | "failed" | "cancelled";
        };
        /**
         * ConfigMatrix
         * @description The values that are combined; a value that a mode does not use makes no further runs.
         *
         *     A measure whose k exceeds the top_k of a run is null for that run. Engines of the service are
         *     combined with top_k_values only; with engines, search_modes may be empty.
         * @example {
         *       "rrf_k_values": [
         *         60
         *       ],
         *       "search_modes": [
         *         "dense",
         *         "hybrid"
         *       ],
         *       "top_k_values": [
         *         10
         *       ],
         *       "use_reranker": [
         *         false
         *       ]
         *     }
         */
        ConfigMatrix: {
            /** Search Modes */
            search_modes: ("dense" | "sparse" | "hybrid")[];
            /**
             * Engines
             * @description Names from GET /api/v2/engines
             * @default []
             */
            engines: string[];
            /**
             * Use Reranker
             * @default [
             *       false
             *     ]
             */
            use_reranker: boolean[];
            /**
             * Models
             * @description Embedding models from choices.models in GET /api/v2/me; null is the model of the collection
             */
            models?: string[] | null;
            /**
             * Rerankers
             * @description Rerankers from choices.rerankers in GET /api/v2/me; used if use_reranker is true
             * @default [
             *       "maxsim"
             *     ]
             */
            rerankers: string[];
            /**
             * Context
             * @description Chat models that write a context of each chunk, from choices.contexts in GET /api/v2/me; null means no context
             * @default [
             *       null
             *     ]
             */
            context: (string | null)[];
            /**
             * Top K Values
             * @description null is the top_k of the benchmark
             */
            top_k_values?: number[] | null;
            /**
             * Rrf K Values
             * @description Constants of reciprocal rank fusion; null is 60 where fusion has rrf
             */
            rrf_k_values?: number[] | null;
            /**
             * Score Thresholds
             * @default [
             *       null
             *     ]
             */
            score_thresholds: (number | null)[];
            /**
             * Fusion
             * @description For mode hybrid; null is rrf if there are rrf_k_values, else min-max
             */
            fusion?: ("rrf" | "min-max")[] | null;
            /**
             * Dense Weight
             * @description For mode hybrid; null: default
             * @default [
             *       null
             *     ]
             */
            dense_weight: (number | null)[];
            /**
             * K1
             * @description BM25; null is the default
             * @default [
             *       null
             *     ]
             */
            k1: (number | null)[];
            /**
             * B
             * @description BM25; null is the default
             * @default [
             *       null
             *     ]
             */
            b: (number | null)[];
            /**
             * Code Ranking
             * @default [
             *       null
             *     ]
             */
            code_ranking: (boolean | null)[];
            /**
             * Rerank Depth
             * @description Number of hits that a reranker scores
             * @default [
             *       null
             *     ]
             */
            rerank_depth: (number | null)[];
            /**
             * Primary K
             * @default 10
             */
            primary_k: number;
            /**
             * K Values For Metrics
             * @default [
             *       1,
             *       5,
             *       10
             *     ]
             */
            k_values_for_metrics: number[];
        };
        /**
         * CurrentRun
         * @description The run in progress.
         *
         *     ``waiting`` lasts until no other karat run is active on the machine, so that latency is not
         *     distorted; *waiting_for* lists these runs, as far as they are known.
         */
        CurrentRun: {
            /** Run Id */
            run_id: string;
            /** Run Order */
            run_order: number;
            config: components["schemas"]["RunConfig"];
            /** Config Summary */
            config_summary: string;
            /** Total Queries */
            total_queries: number;
            /** Completed Queries */
            completed_queries: number;
            /**
             * Stage
             * @enum {string}
             */
            stage: "pending" | "waiting" | "indexing" | "evaluating" | "timing";
            /** Waiting For */
            waiting_for: components["schemas"]["RunningProcess"][];
        };
        /**
         * Curve
         * @description One measure of one run against k; null beyond the run's top_k.
         */
        Curve: {
            /** Run Id */
            run_id: string;
            /** Name */
            name: string;
            /** Measure */
            measure: string;
            /** K */
            k: number[];
            /** Values */
            values: (number | null)[];
        };
        /**
         * Curves
         * @description Measures against k, for every run.
         */
        Curves: {
            /** Curves */
            curves: components["schemas"]["Curve"][];
        };
        /**
         * Dataset
         * @description A dataset; *version* counts the changes of its judgments, from 1.
         */
        Dataset: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Name */
            name: string;
            /** Description */
            description: string;
            /** Owner Id */
            owner_id: string;
            /** Query Count */
            query_count: number;
            /**
             * Schema Version
             * @example 1.0
             */
            schema_version: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /**
             * Updated At
             * Format: date-time
             */
            updated_at: string;
            /**
             * Version
             * @example 1
             */
            version: number;
        };
        /**
         * DatasetQueries
         * @description A page of queries in the order of the dataset.
         */
        DatasetQueries: {
            /**
             * Total
             * @example 1
             */
            total: number;
            /**
             * Page
             * @example 1
             */
            page: number;
            /**
             * Per Page
             * @example 50
             */
            per_page: number;
            /** Queries */
            queries: components["schemas"]["DatasetQuery"][];
        };
        /**
         * DatasetQuery
         * @description A query with its judgments.
         */
        DatasetQuery: {
            /** Query Id */
            query_id: string;
            /** Query Key */
            query_key: string;
            /** Query Text */
            query_text: string;
            /** Relevant Docs */
            relevant_docs: components["schemas"]["RelevantDoc"][];
            /** Tags */
            tags: {
                [key: string]: string;
            };
        };
        /**
         * Datasets
         * @description A page of datasets, the newest first.
         */
        Datasets: {
            /**
             * Total
             * @example 1
             */
            total: number;
            /**
             * Page
             * @example 1
             */
            page: number;
            /**
             * Per Page
             * @example 50
             */
            per_page: number;
            /** Datasets */
            datasets: components["schemas"]["Dataset"][];
        };
        /**
         * Definitions
         * @description What each metric and each loss reason means.
         */
        Definitions: {
            /** Metrics */
            metrics: components["schemas"]["MetricDefinition"][];
            /** Loss Reasons */
            loss_reasons: components["schemas"]["LossReason"][];
        };
        /**
         * DenseIndex
         * @description The index of embeddings; *state* is ``none`` if it is turned off.
         */
        DenseIndex: {
            /**
             * State
             * @enum {string}
             */
            state: "pending" | "indexing" | "ready" | "failed" | "none";
            /** Model */
            model: string | null;
            /** Dimension */
            dimension: number | null;
            /** Vectors */
            vectors: number | null;
        };
        /**
         * DetailTable
         * @description A table of a report, such as latency or cost.
         */
        DetailTable: {
            /** Title */
            title: string;
            /** Columns */
            columns: components["schemas"]["TableColumn"][];
            /** Rows */
            rows: components["schemas"]["TableCell"][][];
            /** Notes */
            notes: string[];
        };
        /**
         * Details
         * @description What explains the results: warnings, advice, ranks, latency, cost and method.
         *
         *     *pareto* names for each measure the runs that no other run beats in both quality and latency.
         *     *standings* compares each run with the run *baseline* on the measure *change_of*.
         */
        Details: {
            /** Warnings */
            warnings: string[];
            /** Not Comparable */
            not_comparable: string[];
            /** Recommendations */
            recommendations: components["schemas"]["Recommendation"][];
            /** Insights */
            insights: string[];
            /** Remarks */
            remarks: string[];
            /** Run Notes */
            run_notes: {
                [key: string]: string[];
            };
            /** Standings */
            standings: components["schemas"]["Standing"][];
            /** Change Of */
            change_of: string;
            /** Baseline */
            baseline: string;
            first_ranks: components["schemas"]["FirstRanks"];
            /** Pareto */
            pareto: {
                [key: string]: string[];
            };
            /** Latency Steps */
            latency_steps: components["schemas"]["LatencySteps"][];
            /** Tables */
            tables: components["schemas"]["DetailTable"][];
            /** Sections */
            sections: components["schemas"]["ReportSection"][];
            /** Method */
            method: components["schemas"]["MethodNote"][];
        };
        /**
         * Document
         * @description A document of a collection; *chunks* is the number of its chunks.
         */
        Document: {
            /** Path */
            path: string;
            /** Size */
            size: number;
            /** Lines */
            lines: number;
            /** Chunks */
            chunks: number;
        };
        /**
         * DocumentText
         * @description The text of a document, with LF line ends.
         */
        DocumentText: {
            /** Path */
            path: string;
            /** Text */
            text: string;
            /** Language */
            language: string;
        };
        /**
         * Documents
         * @description A page of documents by path.
         */
        Documents: {
            /**
             * Total
             * @example 1
             */
            total: number;
            /**
             * Page
             * @example 1
             */
            page: number;
            /**
             * Per Page
             * @example 50
             */
            per_page: number;
            /** Documents */
            documents: components["schemas"]["Document"][];
        };
        /**
         * Drilldown
         * @description One query across all runs of a benchmark.
         */
        Drilldown: {
            query: components["schemas"]["DrilldownQuery"];
            /** Targets */
            targets: components["schemas"]["DrilldownTarget"][];
            /** Runs */
            runs: components["schemas"]["DrilldownRun"][];
        };
        /**
         * DrilldownHit
         * @description A hit of one run; *grade* is null where nobody has judged it.
         */
        DrilldownHit: {
            /** Rank */
            rank: number;
            /** Path */
            path: string;
            /** Start Line */
            start_line: number;
            /** End Line */
            end_line: number;
            /** Symbol */
            symbol: string;
            /** Score */
            score: number;
            /** Grade */
            grade: number | null;
            /** Relevant */
            relevant: boolean;
        };
        /**
         * DrilldownQuery
         * @description The query itself.
         */
        DrilldownQuery: {
            /** Query Id */
            query_id: string;
            /** Query Key */
            query_key: string;
            /** Query Text */
            query_text: string;
            /** Tags */
            tags: {
                [key: string]: string;
            };
        };
        /**
         * DrilldownRun
         * @description The query result of one run; *retrieved* counts hits that are not listed, too.
         */
        DrilldownRun: {
            /** Run Id */
            run_id: string;
            /** Name */
            name: string;
            /**
             * Status
             * @enum {string}
             */
            status: "scored" | "missing" | "error" | "timeout" | "unjudged";
            /**
             * Error
             * @description Why a query failed: status error or timeout
             */
            error: string | null;
            /** Retrieved */
            retrieved: number;
            /** Metrics */
            metrics: {
                [key: string]: number | null;
            };
            /** Hits */
            hits: components["schemas"]["DrilldownHit"][];
            /** Search Time Ms */
            search_time_ms: number | null;
            /** Rerank Time Ms */
            rerank_time_ms: number | null;
        };
        /**
         * DrilldownTarget
         * @description A relevant target: its rank in each run, and why it was lost below the primary k.
         */
        DrilldownTarget: {
            /** Path */
            path: string;
            /** Start Line */
            start_line: number;
            /** End Line */
            end_line: number;
            /** Symbol */
            symbol: string;
            /** Grade */
            grade: number;
            /** Found At */
            found_at: {
                [key: string]: number | null;
            };
            /** Lost */
            lost: {
                [key: string]: string;
            };
        };
        /**
         * EmbeddingModel
         * @description A model that a dense index may use.
         *
         *     *install* is the command that installs it on the service's machine, empty if it is installed.
         */
        EmbeddingModel: {
            /**
             * Name
             * @enum {string}
             */
            name: "granite" | "minilm" | "static";
            /** Installed */
            installed: boolean;
            /** Install */
            install: string;
        };
        /**
         * Engine
         * @description An engine, by its name in a matrix.
         */
        Engine: {
            /**
             * Name
             * @example docs-search
             */
            name: string;
            /**
             * Kind
             * @description The adapter, or a built-in engine
             * @example http
             */
            kind: string;
        };
        /**
         * Engines
         * @description All engines that the service was started with.
         */
        Engines: {
            /** Engines */
            engines: components["schemas"]["Engine"][];
        };
        /**
         * Evaluate
         * @description A ranking, best first, with judgments of its items; a second ranking can be compared.
         * @example {
         *       "judgments": {
         *         "a": 0.5,
         *         "b": 1
         *       },
         *       "k_values": [
         *         1,
         *         3
         *       ],
         *       "ranked_items": [
         *         {
         *           "key": "a",
         *           "score": 0.9
         *         },
         *         {
         *           "key": "b",
         *           "score": 0.7
         *         }
         *       ]
         *     }
         */
        Evaluate: {
            /** Ranked Items */
            ranked_items: components["schemas"]["RankedItem"][];
            /** Judgments */
            judgments: {
                [key: string]: number;
            };
            /**
             * Improved
             * @description Another ranking, to be compared with the first
             */
            improved?: components["schemas"]["RankedItem"][] | null;
            /**
             * K Values
             * @default [
             *       1,
             *       3,
             *       5,
             *       10
             *     ]
             */
            k_values: number[];
        };
        /**
         * EvaluationScores
         * @description The scores; those of *improved* with the change in percent, null from 0.
         */
        EvaluationScores: {
            /**
             * Metrics
             * @example {
             *       "ndcg@1": 0.5,
             *       "ndcg@3": 0.8597
             *     }
             */
            metrics: {
                [key: string]: number;
            };
            /** Improved */
            improved: {
                [key: string]: number;
            } | null;
            /** Improvement */
            improvement: {
                [key: string]: number | null;
            } | null;
        };
        /**
         * Event
         * @description One event; its sequence number is the ``id:`` of the server-sent event.
         */
        Event: {
            /**
             * Timestamp
             * Format: date-time
             */
            timestamp: string;
            /**
             * Type
             * @enum {string}
             */
            type: "benchmark_progress" | "collection_progress" | "mapping_progress" | "operation_progress";
            /** Data */
            data: components["schemas"]["BenchmarkProgress"] | components["schemas"]["JobProgress"];
        };
        /**
         * Example
         * @description The example benchmark; its documents are indexed before it runs.
         */
        Example: {
            /**
             * Collection Id
             * Format: uuid
             */
            collection_id: string;
            /**
             * Dataset Id
             * Format: uuid
             */
            dataset_id: string;
            /**
             * Mapping Id
             * Format: uuid
             */
            mapping_id: string;
            /**
             * Benchmark Id
             * Format: uuid
             */
            benchmark_id: string;
            /** Status */
            status: "indexing" | ("pending" | "queued" | "running" | "completed" | "failed" | "cancelled");
        };
        /**
         * Failure
         * @description An error, and the correlation id of its log lines.
         */
        Failure: {
            /**
             * Detail
             * @example Mapping must be resolved
             */
            detail: string;
            /**
             * Reference
             * @example ERR-5f0c1d7e9a3b4c6d
             */
            reference: string;
        };
        /**
         * FirstRanks
         * @description The number of queries by the rank of their first relevant hit, for each run id.
         */
        FirstRanks: {
            /** Names */
            names: string[];
            /** Runs */
            runs: {
                [key: string]: number[];
            };
        };
        /**
         * Flaw
         * @description One kind of flaw: the number of affected chunks, the total, and examples.
         */
        Flaw: {
            /**
             * Kind
             * @example duplicate
             */
            kind: string;
            /** Count */
            count: number;
            /** Of */
            of: number;
            /** Places */
            places: string[];
            /** Note */
            note: string;
        };
        /**
         * FolderBind
         * @description A folder of unresolved references, and the one that it is called in the collection.
         * @example {
         *       "collection_folder": "handbook/",
         *       "reference_folder": "docs/"
         *     }
         */
        FolderBind: {
            /** Reference Folder */
            reference_folder: string;
            /** Collection Folder */
            collection_folder: string;
        };
        /**
         * FolderSource
         * @description A folder below one of the roots that the service was started with.
         */
        FolderSource: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "folder";
            /**
             * Path
             * @example /srv/docs
             */
            path: string;
        };
        /**
         * FoundHit
         * @description A hit; lines count from 1, 0 means the whole document.
         */
        FoundHit: {
            /** Path */
            path: string;
            /** Start Line */
            start_line: number;
            /** End Line */
            end_line: number;
            /** Symbol */
            symbol: string;
            /** Score */
            score: number;
            /** Text */
            text: string;
        };
        /**
         * GitSource
         * @description A Git repository below such a root, as it was at a revision.
         */
        GitSource: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "git";
            /**
             * Path
             * @example /srv/project.git
             */
            path: string;
            /**
             * Revision
             * @default HEAD
             * @example v2.0
             */
            revision: string;
        };
        /**
         * Health
         * @description Waste in an index: empty, duplicate, oversized or never-retrieved chunks.
         *
         *     *skipped* counts the files left out when the collection was made, and *skipped_files* names at
         *     most 100 unreadable ones for each reason. *fallbacks* counts documents that were not chunked as
         *     requested. *queries* is the number of queries behind the never-retrieved chunks: those of the
         *     datasets that are mapped to the collection.
         */
        Health: {
            /** Engine */
            engine: string;
            /** Document Count */
            document_count: number;
            /** Chunk Count */
            chunk_count: number;
            /** Queries */
            queries: number;
            /** Healthy */
            healthy: boolean;
            /** Flaws */
            flaws: components["schemas"]["Flaw"][];
            /** Skipped */
            skipped: {
                [key: string]: number;
            };
            /** Skipped Files */
            skipped_files: {
                [key: string]: string[];
            };
            /** Fallbacks */
            fallbacks: {
                [key: string]: number;
            };
        };
        /**
         * IndexOptions
         * @description Which indexes are built, and how documents are cut and embedded.
         */
        IndexOptions: {
            /**
             * Dense
             * @default true
             */
            dense: boolean;
            /**
             * Sparse
             * @default true
             */
            sparse: boolean;
            /**
             * Chunker
             * @default auto
             * @example window:256
             * @example window(unit=tokens, size=200, overlap=20)
             */
            chunker: string;
            /**
             * Model
             * @default granite
             * @enum {string}
             */
            model: "granite" | "minilm" | "static";
        };
        /**
         * JobProgress
         * @description The progress of indexing a collection, of resolving a mapping, or of an extension's job.
         */
        JobProgress: {
            /**
             * Subject Id
             * Format: uuid
             */
            subject_id: string;
            /**
             * Status
             * @enum {string}
             */
            status: "pending" | "running" | "completed" | "failed" | "cancelled";
            /** Stage */
            stage: string;
            /** Done */
            done: number;
            /** Total */
            total: number;
            /** Error Message */
            error_message: string | null;
        };
        /**
         * JudgmentChange
         * @description One change: *before* is null where there was no grade, *grade* null where it was undone.
         */
        JudgmentChange: {
            /** Version */
            version: number;
            /** Query Id */
            query_id: string;
            /** Path */
            path: string;
            /** Start Line */
            start_line: number | null;
            /** End Line */
            end_line: number | null;
            /** Before */
            before: number | null;
            /** Grade */
            grade: number | null;
            /** Reason */
            reason: string;
            /** Owner Id */
            owner_id: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
        };
        /**
         * JudgmentEdit
         * @description A grade for one place, based on *version* of the judgments.
         */
        JudgmentEdit: {
            /** Query Id */
            query_id: string;
            /** Path */
            path: string;
            /** Start Line */
            start_line?: number | null;
            /** End Line */
            end_line?: number | null;
            /** Grade */
            grade: number;
            /**
             * Reason
             * @default
             */
            reason: string;
            /** Version */
            version: number;
        };
        /**
         * JudgmentHistory
         * @description A page of changes, the newest first.
         */
        JudgmentHistory: {
            /**
             * Total
             * @example 1
             */
            total: number;
            /**
             * Page
             * @example 1
             */
            page: number;
            /**
             * Per Page
             * @example 50
             */
            per_page: number;
            /** Version */
            version: number;
            /** Changes */
            changes: components["schemas"]["JudgmentChange"][];
        };
        /**
         * Judgments
         * @description The version after a change, and the change.
         */
        Judgments: {
            /** Version */
            version: number;
            change: components["schemas"]["JudgmentChange"];
        };
        /**
         * Jump
         * @description A resource whose name, text or id matches the search text.
         *
         *     *detail* is the dataset of a query or the benchmark of a run, and a short description otherwise.
         */
        Jump: {
            /**
             * Kind
             * @enum {string}
             */
            kind: "benchmark" | "dataset" | "collection" | "query" | "run";
            /** Id */
            id: string;
            /** Title */
            title: string;
            /** Detail */
            detail: string;
        };
        /**
         * Jumps
         * @description The best matches, at most 20.
         */
        Jumps: {
            /** Results */
            results: components["schemas"]["Jump"][];
        };
        /**
         * Latency
         * @description Milliseconds of one query, by linear interpolation; null where there are too few samples.
         *
         *     p90 needs 10 samples, p95 needs 20 and p99 needs 100. *disturbed* says that other karat runs
         *     worked, or may have worked, while latency was measured.
         */
        Latency: {
            /** P50 */
            p50: number | null;
            /** P90 */
            p90: number | null;
            /** P95 */
            p95: number | null;
            /** P99 */
            p99: number | null;
            /** Samples */
            samples: number;
            /** Measured */
            measured: boolean;
            /** Disturbed */
            disturbed: boolean;
        };
        /**
         * LatencySteps
         * @description The share of queries answered within a time.
         */
        LatencySteps: {
            /** Run Id */
            run_id: string;
            /** Milliseconds */
            milliseconds: number[];
            /** Shares */
            shares: number[];
        };
        /**
         * Limits
         * @description Limits of one request and of one owner.
         */
        Limits: {
            /** Upload Bytes */
            upload_bytes: number;
            /** Upload Queries */
            upload_queries: number;
            /** Upload Judgments */
            upload_judgments: number;
            /** Archive Bytes */
            archive_bytes: number;
            /** Active Jobs */
            active_jobs: number;
            /** Runs */
            runs: number;
            /** Runs Warned */
            runs_warned: number;
        };
        /**
         * Live
         * @description The process answers.
         */
        Live: {
            /**
             * Status
             * @constant
             */
            status: "ok";
        };
        /**
         * LossReason
         * @description Why targets were lost: *name* is its key in ``fates``, *label* its words.
         *
         *     *shade* is the name of its colour on the page.
         */
        LossReason: {
            /** Name */
            name: string;
            /** Label */
            label: string;
            /** Definition */
            definition: string;
            /** Shade */
            shade: string;
        };
        /**
         * Mapping
         * @description A dataset on a collection, and how many of its references are resolved.
         */
        Mapping: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /**
             * Dataset Id
             * Format: uuid
             */
            dataset_id: string;
            /**
             * Collection Id
             * Format: uuid
             */
            collection_id: string;
            /**
             * Mapping Status
             * @enum {string}
             */
            mapping_status: "pending" | "resolved" | "partial";
            /** Mapped Count */
            mapped_count: number;
            /** Total Count */
            total_count: number;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            /** Resolved At */
            resolved_at: string | null;
        };
        /**
         * MappingCreate
         * @description The collection that a dataset is mapped to.
         * @example {
         *       "collection_id": "0d5bd28f-1ff5-4b1c-9e80-1ff6f6a4f8a4"
         *     }
         */
        MappingCreate: {
            /**
             * Collection Id
             * Format: uuid
             */
            collection_id: string;
        };
        /**
         * MappingResolution
         * @description The result of resolving a mapping; *unresolved* lists at most 100 references.
         *
         *     *operation_uuid* names the job if a job resolves it (202), else it is null. *moved_folder* is
         *     the folder whose new name resolves most of them at once, null without one.
         */
        MappingResolution: {
            /**
             * Id
             * Format: uuid
             */
            id: string;
            /** Operation Uuid */
            operation_uuid: string | null;
            /**
             * Mapping Status
             * @enum {string}
             */
            mapping_status: "pending" | "resolved" | "partial";
            /** Mapped Count */
            mapped_count: number;
            /** Total Count */
            total_count: number;
            /** Unresolved */
            unresolved: components["schemas"]["UnresolvedReference"][];
            moved_folder: components["schemas"]["MovedFolder"] | null;
        };
        /**
         * Mappings
         * @description A page of mappings, the newest first.
         */
        Mappings: {
            /**
             * Total
             * @example 1
             */
            total: number;
            /**
             * Page
             * @example 1
             */
            page: number;
            /**
             * Per Page
             * @example 50
             */
            per_page: number;
            /** Mappings */
            mappings: components["schemas"]["Mapping"][];
        };
        /**
         * Me
         * @description The caller, its scopes, and the limits and models of this service.
         */
        Me: {
            /** Owner Id */
            owner_id: string;
            /** Scopes */
            scopes: ("read" | "run" | "admin")[];
            /** Authenticated */
            authenticated: boolean;
            /**
             * Shared
             * @description Whether all tokens see what all owners have
             */
            shared: boolean;
            /** Version */
            version: string;
            /**
             * Roots
             * @description Folders that collections may be read from
             */
            roots: string[];
            /**
             * Models
             * @description From the best to the fastest
             */
            models: components["schemas"]["EmbeddingModel"][];
            choices: components["schemas"]["Choices"];
            limits: components["schemas"]["Limits"];
        };
        /**
         * MethodNote
         * @description One setting or input that the results depend on.
         */
        MethodNote: {
            /** Name */
            name: string;
            /** Text */
            text: string;
        };
        /**
         * MetricDefinition
         * @description What a metric measures.
         */
        MetricDefinition: {
            /** Name */
            name: string;
            /** Aliases */
            aliases: string[];
            /** Definition */
            definition: string;
            /** Formula */
            formula: string;
            /** Higher Is Better */
            higher_is_better: boolean;
        };
        /**
         * Metrics
         * @description Means over all queries; inner keys are the k. Null where k exceeds the run's top_k.
         */
        Metrics: {
            /** Mrr */
            mrr: number | null;
            /** Ap */
            ap: number | null;
            /**
             * Precision
             * @example {
             *       "10": 0.31
             *     }
             */
            precision: {
                [key: string]: number | null;
            };
            /** Recall */
            recall: {
                [key: string]: number | null;
            };
            /** Ndcg */
            ndcg: {
                [key: string]: number | null;
            };
        };
        /**
         * ModeHits
         * @description The hits of one mode, best first.
         */
        ModeHits: {
            /**
             * Mode
             * @enum {string}
             */
            mode: "dense" | "sparse" | "hybrid";
            /** Hits */
            hits: components["schemas"]["FoundHit"][];
            /** Search Time Ms */
            search_time_ms: number;
        };
        /**
         * MovedFolder
         * @description A folder of references that is called otherwise in the collection, "" for its root.
         *
         *     *reference_count* is how many unresolved references are documents there.
         */
        MovedFolder: {
            /**
             * Reference Folder
             * @example docs/
             */
            reference_folder: string;
            /**
             * Collection Folder
             * @example handbook/
             */
            collection_folder: string;
            /** Reference Count */
            reference_count: number;
        };
        /**
         * Preview
         * @description The exact runs of a matrix; more than 50 are rejected, above 25 there is a warning.
         */
        Preview: {
            /** Total Runs */
            total_runs: number;
            /** Runs */
            runs: components["schemas"]["PreviewRun"][];
            shared: components["schemas"]["SharedWork"];
            /** Warning */
            warning: string | null;
        };
        /**
         * PreviewRequest
         * @description A matrix whose runs are listed before anything is created.
         *
         *     With *mapping_id* they are those on its collection, by its chunks and its model.
         */
        PreviewRequest: {
            config_matrix: components["schemas"]["ConfigMatrix"];
            /**
             * Top K
             * @default 10
             */
            top_k: number;
            /** Mapping Id */
            mapping_id?: string | null;
        };
        /**
         * PreviewRun
         * @description A run of the matrix.
         */
        PreviewRun: {
            /** Name */
            name: string;
            config: components["schemas"]["RunConfig"];
        };
        /**
         * QueryResult
         * @description The result of one query in one run, at the primary k.
         */
        QueryResult: {
            /** Query Id */
            query_id: string;
            /** Query Key */
            query_key: string;
            /** Query Text */
            query_text: string;
            /** Retrieved Doc Ids */
            retrieved_doc_ids: string[];
            /** Metrics */
            metrics: {
                [key: string]: number | null;
            };
            /** Precision At K */
            precision_at_k: number | null;
            /** Recall At K */
            recall_at_k: number | null;
            /** Reciprocal Rank */
            reciprocal_rank: number | null;
            /** Ndcg At K */
            ndcg_at_k: number | null;
            /** Search Time Ms */
            search_time_ms: number | null;
            /** Rerank Time Ms */
            rerank_time_ms: number | null;
        };
        /**
         * QueryResults
         * @description A page of the queries of one run.
         */
        QueryResults: {
            /**
             * Total
             * @example 1
             */
            total: number;
            /**
             * Page
             * @example 1
             */
            page: number;
            /**
             * Per Page
             * @example 50
             */
            per_page: number;
            /** Run Id */
            run_id: string;
            /** Results */
            results: components["schemas"]["QueryResult"][];
        };
        /**
         * RankedItem
         * @description An item of a ranking; its place in the list is its rank, whatever the score.
         */
        RankedItem: {
            /** Key */
            key?: string | null;
            /** Id */
            id?: string | null;
            /** Score */
            score?: number | null;
        };
        /**
         * Ready
         * @description Whether requests can be served: database and disk, each ready or with its problem.
         */
        Ready: {
            /**
             * Status
             * @enum {string}
             */
            status: "ready" | "not ready";
            /** Checks */
            checks: {
                [key: string]: string;
            };
        };
        /**
         * Recommendation
         * @description The run to take for one purpose, why, and how certain that is.
         */
        Recommendation: {
            /** Purpose */
            purpose: string;
            /** Run */
            run: string;
            /** Run Id */
            run_id: string;
            /** Why */
            why: string;
            /** Certainty */
            certainty: string;
        };
        /**
         * ReferenceBind
         * @description The document that an unresolved reference means, chosen by hand.
         */
        ReferenceBind: {
            /** Query Id */
            query_id: string;
            /** Doc Ref Hash */
            doc_ref_hash: string;
            /** Path */
            path: string;
        };
        /**
         * RelevantDoc
         * @description A judgment: *doc_ref* has one key, such as ``uri`` or ``path``, and perhaps lines.
         */
        RelevantDoc: {
            /**
             * Doc Ref
             * @example {
             *       "uri": "file:///docs/auth.md"
             *     }
             */
            doc_ref: {
                [key: string]: unknown;
            };
            /** Relevance Grade */
            relevance_grade: number;
        };
        /**
         * ReportSection
         * @description A section that an extension adds to a report.
         */
        ReportSection: {
            /** Title */
            title: string;
            /** Tables */
            tables: components["schemas"]["DetailTable"][];
            /** Charts */
            charts: components["schemas"]["SectionChart"][];
        };
        /**
         * Results
         * @description All runs of a benchmark, scored by the judgments of *judgments_version*.
         */
        Results: {
            /**
             * Benchmark Id
             * Format: uuid
             */
            benchmark_id: string;
            /**
             * Status
             * @enum {string}
             */
            status: "pending" | "queued" | "running" | "completed" | "failed" | "cancelled";
            /** Primary K */
            primary_k: number;
            /**
             * Primary Metric
             * @example ndcg@10
             */
            primary_metric: string;
            /** K Values For Metrics */
            k_values_for_metrics: number[];
            /** Query Count */
            query_count: number;
            /** Judgments Version */
            judgments_version: number;
            /**
             * Labels
             * @description Measures as they were typed, by their canonical names
             * @example {
             *       "ap": "MAP",
             *       "ndcg@10": "nDCG@10"
             *     }
             */
            labels: {
                [key: string]: string;
            };
            /**
             * Lower Is Better
             * @description Measures for which lower is better
             */
            lower_is_better: string[];
            /**
             * Score Mark
             * @description Mark beside every score if scores use labels of models whose agreement with people is low or unknown; a warning in the details explains it
             * @default
             * @example
             * @example †
             */
            score_mark: string;
            /**
             * Loss Reasons
             * @description The keys of `fates` in each run, in order
             */
            loss_reasons: components["schemas"]["LossReason"][];
            /** Runs */
            runs: components["schemas"]["RunResult"][];
            summary: components["schemas"]["Summary"];
            /** Total Runs */
            total_runs: number;
        };
        /**
         * RunConfig
         * @description One configuration of a mode or an engine; unused parameters are null.
         */
        RunConfig: {
            /** Search Mode */
            search_mode: ("dense" | "sparse" | "hybrid") | null;
            /** Engine */
            engine: string | null;
            /** Use Reranker */
            use_reranker: boolean;
            /** Top K */
            top_k: number;
            /** Rrf K */
            rrf_k: number | null;
            /** Score Threshold */
            score_threshold: number | null;
            /** Fusion */
            fusion?: ("rrf" | "min-max") | null;
            /** Dense Weight */
            dense_weight?: number | null;
            /** K1 */
            k1?: number | null;
            /** B */
            b?: number | null;
            /** Code Ranking */
            code_ranking?: boolean | null;
            /** Rerank Depth */
            rerank_depth?: number | null;
            /** Model */
            model?: string | null;
            /** Reranker */
            reranker?: string | null;
            /** Context */
            context?: string | null;
        };
        /**
         * RunResult
         * @description One run; *intervals* are 95 % intervals of the means in *metrics_flat*.
         *
         *     *resolved_metrics_flat* leaves unresolved references out of the judgments; null where there are
         *     none. *fates* counts the relevant targets by loss reason at the primary k, by the names of
         *     ``loss_reasons``; it is empty before the benchmark has ended. *identical_to* names runs whose
         *     rankings are the same, hit for hit. The run is ``completed`` when all its queries are scored.
         *     *timing_status* tells whether its latency is measured: ``none`` is not wanted, ``pending`` waits
         *     or is being measured; ``failed`` and ``cancelled`` are measured when the benchmark is started
         *     again.
         */
        RunResult: {
            /** Id */
            id: string;
            /** Run Order */
            run_order: number;
            /** Name */
            name: string;
            /** Config Hash */
            config_hash: string;
            config: components["schemas"]["RunConfig"];
            /**
             * Snapshot
             * @description SHA-256 over all paths and contents that were searched
             */
            snapshot: string;
            /**
             * Status
             * @enum {string}
             */
            status: "pending" | "indexing" | "evaluating" | "completed" | "failed" | "cancelled";
            /** Error Message */
            error_message: string | null;
            metrics: components["schemas"]["Metrics"];
            /**
             * Metrics Flat
             * @example {
             *       "ndcg@10": 0.71
             *     }
             */
            metrics_flat: {
                [key: string]: number | null;
            };
            /** Resolved Metrics Flat */
            resolved_metrics_flat: {
                [key: string]: number | null;
            } | null;
            /**
             * Intervals
             * @example {
             *       "ndcg@10": [
             *         0.64,
             *         0.78
             *       ]
             *     }
             */
            intervals: {
                [key: string]: [
                    number,
                    number
                ];
            };
            timing: components["schemas"]["Timing"];
            /**
             * Timing Status
             * @enum {string}
             */
            timing_status: "none" | "pending" | "done" | "failed" | "cancelled";
            latency: components["schemas"]["Latency"];
            /** Answered */
            answered: number;
            /** Errors */
            errors: number;
            /** Timeouts */
            timeouts: number;
            /** Invalid */
            invalid: number;
            /**
             * Fates
             * @example {
             *       "found": 61,
             *       "fusion": 2,
             *       "too low": 4
             *     }
             */
            fates: {
                [key: string]: number;
            };
            /** Warnings */
            warnings: string[];
            /** Identical To */
            identical_to: string[];
        };
        /**
         * RunningProcess
         * @description Another process of Karat on the machine: the command that it runs, and since when.
         */
        RunningProcess: {
            /** Pid */
            pid: number;
            /** Command */
            command: string;
            /**
             * Since
             * Format: date-time
             */
            since: string;
        };
        /**
         * ScoreMatrix
         * @description Scores of all queries (rows) in all runs (columns); null where there is none.
         *
         *     *texts* are the texts of the queries, *tags* their values of each tag.
         */
        ScoreMatrix: {
            /** Metric */
            metric: string;
            /** Queries */
            queries: string[];
            /** Texts */
            texts: string[];
            /** Tags */
            tags: {
                [key: string]: string[];
            };
            /** Runs */
            runs: string[];
            /** Values */
            values: (number | null)[][];
        };
        /**
         * SectionBar
         * @description A value of a chart, with its interval where it has one.
         */
        SectionBar: {
            /** Name */
            name: string;
            /** Value */
            value: number | null;
            /** Low */
            low: number | null;
            /** High */
            high: number | null;
        };
        /**
         * SectionChart
         * @description Bars on one scale from 0; *what* is measured.
         */
        SectionChart: {
            /** Title */
            title: string;
            /** What */
            what: string;
            /** Bars */
            bars: components["schemas"]["SectionBar"][];
            /** Notes */
            notes: string[];
        };
        /**
         * SharedWork
         * @description Work that the runs share: the number of *retrievals* and of *indexes*.
         */
        SharedWork: {
            /** Retrievals */
            retrievals: number;
            /** Indexes */
            indexes: number;
            /** Words */
            words: string;
        };
        /**
         * Side
         * @description One side of a comparison of two benchmarks or runs.
         */
        Side: {
            /**
             * Benchmark Id
             * Format: uuid
             */
            benchmark_id: string;
            /** Benchmark Name */
            benchmark_name: string;
            /** Run Id */
            run_id: string;
            /** Run Name */
            run_name: string;
            /** Mean */
            mean: number | null;
        };
        /**
         * Slice
         * @description The queries with one value of a tag.
         */
        Slice: {
            /** Value */
            value: string;
            /** Queries */
            queries: number;
            /** Means */
            means: {
                [key: string]: number | null;
            };
            /** Intervals */
            intervals: {
                [key: string]: [
                    number,
                    number
                ];
            };
        };
        /**
         * Slices
         * @description Means of each run (by its id) over slices of the queries; *tags* lists what *by* may be.
         */
        Slices: {
            /** Metric */
            metric: string;
            /** By */
            by: string;
            /** Tags */
            tags: string[];
            /** Slices */
            slices: components["schemas"]["Slice"][];
        };
        /**
         * SparseIndex
         * @description The index of words.
         */
        SparseIndex: {
            /**
             * State
             * @enum {string}
             */
            state: "pending" | "indexing" | "ready" | "failed" | "none";
        };
        /**
         * Standing
         * @description A run of the leaderboard; *better_than* has the letters of runs significantly worse.
         *
         *     *difference* and *p* compare it with the first run; null for the first run itself.
         */
        Standing: {
            /** Run Id */
            run_id: string;
            /** Letter */
            letter: string;
            /** Better Than */
            better_than: string;
            /** Difference */
            difference: number | null;
            /** P */
            p: number | null;
        };
        /**
         * Summary
         * @description The outcome over all runs.
         *
         *     *best_runs* are the best run and all runs that are not significantly worse. *headline* is the
         *     outcome in one sentence, *comparison* adds the numbers.
         */
        Summary: {
            /** Total Runs */
            total_runs: number;
            /** Completed Runs */
            completed_runs: number;
            /** Failed Runs */
            failed_runs: number;
            /** Best Run */
            best_run: string | null;
            /** Best Primary Metric */
            best_primary_metric: number | null;
            /** Best Runs */
            best_runs: string[];
            /** Headline */
            headline: string | null;
            /** Comparison */
            comparison: string | null;
        };
        /**
         * TableCell
         * @description A text with the value to sort by.
         */
        TableCell: {
            /** Text */
            text: string;
            /** Value */
            value: number | string | null;
        };
        /**
         * TableColumn
         * @description The heading of a column.
         */
        TableColumn: {
            /** Title */
            title: string;
            /** Numeric */
            numeric: boolean;
        };
        /**
         * Timing
         * @description The duration of the phases of a run, in milliseconds.
         */
        Timing: {
            /** Indexing Ms */
            indexing_ms: number | null;
            /** Evaluation Ms */
            evaluation_ms: number | null;
            /** Total Ms */
            total_ms: number | null;
        };
        /**
         * Trend
         * @description All completed runs over one dataset, the oldest first.
         *
         *     Where benchmarks spell a measure differently, *labels* has the spelling of the newest one.
         */
        Trend: {
            /**
             * Dataset Id
             * Format: uuid
             */
            dataset_id: string;
            /**
             * Labels
             * @description Measures as they were typed, by their canonical names
             * @example {
             *       "ap": "MAP",
             *       "ndcg@10": "nDCG@10"
             *     }
             */
            labels: {
                [key: string]: string;
            };
            /** Points */
            points: components["schemas"]["TrendPoint"][];
        };
        /**
         * TrendPoint
         * @description One run in the course of time; *commit* is null where the documents are in no repository.
         */
        TrendPoint: {
            /**
             * Benchmark Id
             * Format: uuid
             */
            benchmark_id: string;
            /** Benchmark Name */
            benchmark_name: string;
            /** Run Id */
            run_id: string;
            /** Run Name */
            run_name: string;
            /**
             * Created At
             * Format: date-time
             */
            created_at: string;
            commit: components["schemas"]["Commit"] | null;
            /** Values */
            values: {
                [key: string]: number | null;
            };
            /** Intervals */
            intervals: {
                [key: string]: [
                    number,
                    number
                ];
            };
            /** Annotations */
            annotations: string[];
        };
        /**
         * TwoSides
         * @description Two runs, perhaps of two benchmarks, on the queries that both have answered.
         *
         *     Where they are not *comparable*, *why* says what differs: dataset, judgments or documents.
         *     *label* is the metric as it was typed for the left benchmark.
         */
        TwoSides: {
            /** Metric */
            metric: string;
            /** Label */
            label: string;
            left: components["schemas"]["Side"];
            right: components["schemas"]["Side"];
            /** Comparable */
            comparable: boolean;
            /** Why */
            why: string | null;
            /** Queries */
            queries: number;
            comparison: components["schemas"]["ComparisonRun"];
            /** Headline */
            headline: string;
            /** Verdict */
            verdict: string;
        };
        /**
         * UnjudgedHit
         * @description An unjudged hit, with its best rank in any run.
         */
        UnjudgedHit: {
            /** Query Id */
            query_id: string;
            /** Query Text */
            query_text: string;
            /** Path */
            path: string;
            /** Start Line */
            start_line: number;
            /** End Line */
            end_line: number;
            /** Symbol */
            symbol: string;
            /** Best Rank */
            best_rank: number;
            /** Runs */
            runs: string[];
        };
        /**
         * UnjudgedHits
         * @description A page of unjudged hits, in the order that was requested.
         */
        UnjudgedHits: {
            /**
             * Total
             * @example 1
             */
            total: number;
            /**
             * Page
             * @example 1
             */
            page: number;
            /**
             * Per Page
             * @example 50
             */
            per_page: number;
            /** Version */
            version: number;
            /** Hits */
            hits: components["schemas"]["UnjudgedHit"][];
        };
        /**
         * UnresolvedReference
         * @description A reference without a document: no document matches, several match, or it is invalid.
         */
        UnresolvedReference: {
            /** Query Id */
            query_id: string;
            /** Doc Ref */
            doc_ref: {
                [key: string]: unknown;
            };
            /** Doc Ref Hash */
            doc_ref_hash: string;
            /**
             * Reason
             * @enum {string}
             */
            reason: "not_found" | "skipped" | "ambiguous" | "invalid_ref";
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    healthz_healthz_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Live"];
                };
            };
        };
    };
    readyz_readyz_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ready"];
                };
            };
            /** @description Service Unavailable */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ready"];
                };
            };
        };
    };
    metrics_metrics_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    me_api_v2_me_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Me"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    get_definitions_api_v2_definitions_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Definitions"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    open_session_api_v2_session_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    close_session_api_v2_session_delete: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    evaluate_api_v2_evaluate_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Evaluate"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvaluationScores"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    list_collections_api_v2_collections_get: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Collections"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    create_collection_api_v2_collections_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CollectionCreate"];
                "multipart/form-data": {
                    /** Format: binary */
                    file: string;
                    name: string;
                    description?: string;
                    index?: string;
                    files?: string;
                };
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Collection"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The body is larger than allowed */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    get_collection_api_v2_collections__collection_id__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                collection_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Collection"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    delete_collection_api_v2_collections__collection_id__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                collection_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    reindex_collection_api_v2_collections__collection_id__reindex_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                collection_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Collection"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    list_documents_api_v2_collections__collection_id__documents_get: {
        parameters: {
            query?: {
                q?: string;
                page?: number;
                per_page?: number;
            };
            header?: never;
            path: {
                collection_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Documents"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    read_document_api_v2_collections__collection_id__documents_content_get: {
        parameters: {
            query: {
                path: string;
            };
            header?: never;
            path: {
                collection_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentText"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    collection_health_api_v2_collections__collection_id__health_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                collection_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    search_collection_api_v2_collections__collection_id__search_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                collection_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CollectionSearch"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CollectionSearchResult"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    list_datasets_api_v2_benchmark_datasets_get: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Datasets"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    upload_dataset_api_v2_benchmark_datasets_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["Body_upload_dataset_api_v2_benchmark_datasets_post"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dataset"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The body did not arrive in time */
            408: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The body is larger than allowed */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    get_dataset_api_v2_benchmark_datasets__dataset_id__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dataset"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    delete_dataset_api_v2_benchmark_datasets__dataset_id__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    list_queries_api_v2_benchmark_datasets__dataset_id__queries_get: {
        parameters: {
            query?: {
                q?: string;
                page?: number;
                per_page?: number;
            };
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DatasetQueries"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    list_mappings_api_v2_benchmark_datasets__dataset_id__mappings_get: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
            };
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mappings"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    create_mapping_api_v2_benchmark_datasets__dataset_id__mappings_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MappingCreate"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mapping"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    get_mapping_api_v2_benchmark_datasets__dataset_id__mappings__mapping_id__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
                mapping_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mapping"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    resolve_api_v2_benchmark_datasets__dataset_id__mappings__mapping_id__resolve_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
                mapping_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MappingResolution"];
                };
            };
            /** @description A job resolves it; its operation reports progress */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MappingResolution"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    unresolved_api_v2_benchmark_datasets__dataset_id__mappings__mapping_id__unresolved_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
                mapping_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MappingResolution"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    bind_api_v2_benchmark_datasets__dataset_id__mappings__mapping_id__references_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
                mapping_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReferenceBind"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MappingResolution"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    bind_moved_folder_api_v2_benchmark_datasets__dataset_id__mappings__mapping_id__folders_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
                mapping_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FolderBind"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MappingResolution"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    list_benchmarks_api_v2_benchmarks_get: {
        parameters: {
            query?: {
                status_filter?: ("pending" | "queued" | "running" | "completed" | "failed" | "cancelled") | null;
                page?: number;
                per_page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Benchmarks"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    create_benchmark_api_v2_benchmarks_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BenchmarkCreate"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Benchmark"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    preview_benchmark_api_v2_benchmarks_preview_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PreviewRequest"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Preview"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    latest_benchmark_api_v2_benchmarks_latest_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Benchmark"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    get_benchmark_api_v2_benchmarks__benchmark_id__get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                benchmark_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Benchmark"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    delete_benchmark_api_v2_benchmarks__benchmark_id__delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                benchmark_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    start_benchmark_api_v2_benchmarks__benchmark_id__start_post: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated key returns the benchmark that the first request started */
                "Idempotency-Key"?: string | null;
            };
            path: {
                benchmark_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BenchmarkStart"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    cancel_benchmark_api_v2_benchmarks__benchmark_id__cancel_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                benchmark_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BenchmarkStart"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    annotate_benchmark_api_v2_benchmarks__benchmark_id__annotations_post: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                benchmark_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnnotationCreate"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Annotation"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    create_example_api_v2_examples_post: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Example"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    list_engines_api_v2_engines_get: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Engines"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    follow_benchmark_api_v2_benchmarks__benchmark_id__events_get: {
        parameters: {
            query?: never;
            header?: {
                "Last-Event-ID"?: number;
            };
            path: {
                benchmark_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events, each an Event as JSON; Last-Event-ID resumes them */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": {
                        id?: string;
                        event?: string;
                        data?: string;
                    };
                };
            };
            /** @description All events were sent, and the stream has ended */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    follow_operation_api_v2_operations__operation_id__events_get: {
        parameters: {
            query?: never;
            header?: {
                "Last-Event-ID"?: number;
            };
            path: {
                operation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events, each an Event as JSON; Last-Event-ID resumes them */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": {
                        id?: string;
                        event?: string;
                        data?: string;
                    };
                };
            };
            /** @description All events were sent, and the stream has ended */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    get_results_api_v2_benchmarks__benchmark_id__results_get: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string | null;
            };
            path: {
                benchmark_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Results"];
                };
            };
            /** @description Nothing has changed since the version in If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    get_run_queries_api_v2_benchmarks__benchmark_id__runs__run_id__queries_get: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
            };
            header?: {
                "If-None-Match"?: string | null;
            };
            path: {
                run_id: string;
                benchmark_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueryResults"];
                };
            };
            /** @description Nothing has changed since the version in If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    get_comparison_api_v2_benchmarks__benchmark_id__comparison_get: {
        parameters: {
            query?: {
                baseline?: string | null;
                metric?: string | null;
            };
            header?: {
                "If-None-Match"?: string | null;
            };
            path: {
                benchmark_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Comparison"];
                };
            };
            /** @description Nothing has changed since the version in If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    get_matrix_api_v2_benchmarks__benchmark_id__matrix_get: {
        parameters: {
            query?: {
                metric?: string | null;
            };
            header?: {
                "If-None-Match"?: string | null;
            };
            path: {
                benchmark_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScoreMatrix"];
                };
            };
            /** @description Nothing has changed since the version in If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    get_slices_api_v2_benchmarks__benchmark_id__slices_get: {
        parameters: {
            query?: {
                metric?: string | null;
                by?: string | null;
            };
            header?: {
                "If-None-Match"?: string | null;
            };
            path: {
                benchmark_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Slices"];
                };
            };
            /** @description Nothing has changed since the version in If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    get_curves_api_v2_benchmarks__benchmark_id__curves_get: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string | null;
            };
            path: {
                benchmark_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Curves"];
                };
            };
            /** @description Nothing has changed since the version in If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    get_details_api_v2_benchmarks__benchmark_id__details_get: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string | null;
            };
            path: {
                benchmark_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Details"];
                };
            };
            /** @description Nothing has changed since the version in If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    get_changes_api_v2_benchmarks__benchmark_id__changes_get: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string | null;
            };
            path: {
                benchmark_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Changes"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    get_query_api_v2_benchmarks__benchmark_id__queries__query_id__get: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string | null;
            };
            path: {
                query_id: string;
                benchmark_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Drilldown"];
                };
            };
            /** @description Nothing has changed since the version in If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    get_report_api_v2_benchmarks__benchmark_id__report_html_get: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string | null;
            };
            path: {
                benchmark_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            /** @description Nothing has changed since the version in If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    export_csv_api_v2_benchmarks__benchmark_id__export_csv_get: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string | null;
            };
            path: {
                benchmark_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                };
            };
            /** @description Nothing has changed since the version in If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    export_json_api_v2_benchmarks__benchmark_id__export_json_get: {
        parameters: {
            query?: never;
            header?: {
                "If-None-Match"?: string | null;
            };
            path: {
                benchmark_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
            /** @description Nothing has changed since the version in If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    compare_api_v2_compare_get: {
        parameters: {
            query: {
                left: string;
                right: string;
                metric?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TwoSides"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    get_trend_api_v2_trend_get: {
        parameters: {
            query: {
                dataset: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Trend"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    list_unjudged_api_v2_benchmark_datasets__dataset_id__unjudged_get: {
        parameters: {
            query?: {
                /** @description rank: the best ranked hits first. sample: whole queries in random order; any number of the first ones is a stratified random sample */
                order?: "rank" | "sample";
                benchmark?: string | null;
                page?: number;
                per_page?: number;
            };
            header?: {
                "If-None-Match"?: string | null;
            };
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnjudgedHits"];
                };
            };
            /** @description Nothing has changed since the version in If-None-Match */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    put_judgment_api_v2_benchmark_datasets__dataset_id__judgments_put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JudgmentEdit"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Judgments"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    undo_judgment_api_v2_benchmark_datasets__dataset_id__judgments_delete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Judgments"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The request conflicts with the current state */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    list_history_api_v2_benchmark_datasets__dataset_id__judgments_history_get: {
        parameters: {
            query?: {
                page?: number;
                per_page?: number;
            };
            header?: never;
            path: {
                dataset_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JudgmentHistory"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Not found, or owned by somebody else */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
    jump_api_v2_search_get: {
        parameters: {
            query: {
                q: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Jumps"];
                };
            };
            /** @description The request is not valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description No valid token */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The token does not allow it, or the request comes from another site */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Misdirected Request */
            421: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A field is missing, unknown or out of range */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description Too many requests, or too many jobs at once */
            429: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description The database or a process of the service does not answer; retry later */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
            /** @description A disk of the service is full */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Failure"];
                };
            };
        };
    };
}
