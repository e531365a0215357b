import { Redirect, Route, Router, Switch } from "wouter";
import { BenchmarkList } from "@/pages/benchmarks/BenchmarkList";
import { NewBenchmark } from "@/pages/benchmarks/NewBenchmark";
import { CollectionList } from "@/pages/collections/CollectionList";
import { CollectionPage } from "@/pages/collections/CollectionPage";
import { ComparePage } from "@/pages/compare/ComparePage";
import { TwoBenchmarks } from "@/pages/compare/TwoBenchmarks";
import { DatasetList } from "@/pages/datasets/DatasetList";
import { DatasetPage } from "@/pages/datasets/DatasetPage";
import { JudgePage } from "@/pages/judging/JudgePage";
import { HitPanel } from "@/pages/query/HitPanel";
import { QueryPage } from "@/pages/query/QueryPage";
import { ResultsPage } from "@/pages/results/ResultsPage";
import { RunPage } from "@/pages/results/RunPage";
import { TrendPage } from "@/pages/trend/TrendPage";
import { TipProvider } from "@/parts/tip";
import { Layout } from "./Layout";
import { NotFound } from "./NotFound";

/** Every address of the page. */
export function App() {
  return (
    <Router base="/app">
      <TipProvider>
        <Layout>
          <Switch>
            <Route path="/">
              <Redirect to="/benchmarks" replace />
            </Route>
            <Route path="/benchmarks" component={BenchmarkList} />
            <Route path="/benchmarks/new" component={NewBenchmark} />
            <Route path="/benchmarks/:id">{({ id }) => <ResultsPage id={id} />}</Route>
            <Route path="/benchmarks/:id/runs/:run">
              {({ id, run }) => <RunPage id={id} run={run} />}
            </Route>
            <Route path="/benchmarks/:id/compare">{({ id }) => <ComparePage id={id} />}</Route>
            <Route path="/benchmarks/:id/queries/:query">
              {({ id, query }) => (
                <QueryPage id={id} query={decodeURIComponent(query)} reader={HitPanel} />
              )}
            </Route>
            <Route path="/compare" component={TwoBenchmarks} />
            <Route path="/datasets" component={DatasetList} />
            <Route path="/datasets/:id">{({ id }) => <DatasetPage id={id} />}</Route>
            <Route path="/datasets/:id/judge">{({ id }) => <JudgePage id={id} />}</Route>
            <Route path="/collections" component={CollectionList} />
            <Route path="/collections/:id">{({ id }) => <CollectionPage id={id} />}</Route>
            <Route path="/trend" component={TrendPage} />
            <Route>
              <NotFound />
            </Route>
          </Switch>
        </Layout>
      </TipProvider>
    </Router>
  );
}
