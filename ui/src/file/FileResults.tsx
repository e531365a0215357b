import { Link } from "wouter";
import type { Index } from "@/api/embedded";
import { useDetails, useResults } from "@/api/results";
import type { Details, Results } from "@/api/types";
import { Outcome } from "@/pages/results/Outcome";
import { sections } from "@/pages/results/sections";
import { Loaded } from "@/parts/Notes";
import { Page } from "@/parts/Page";

// As the file was written: the title that was asked for, or the dataset with its runs.
const TITLE = document.title;

/** The whole report on one page, which can be read from top to bottom, searched and printed. */
export function FileResults({ index }: { index: Index }) {
  const results = useResults(index.subject);
  const details = useDetails(index.subject);
  return (
    <Page title={index.title} tab={TITLE} below={<p className="soft">{index.about}</p>}>
      <Loaded of={results}>
        {(found) => (
          <Loaded of={details}>
            {(more) => <Report id={index.subject} results={found} details={more} />}
          </Loaded>
        )}
      </Loaded>
      <footer className="soft">
        Written by Karat {index.version}. This file loads nothing from the network.
      </footer>
    </Page>
  );
}

type Props = { id: string; results: Results; details: Details };

function Report({ id, results, details }: Props) {
  const parts = sections({ id, results, details });
  return (
    <>
      <nav className="contents" aria-label="Sections">
        {parts.map(({ name, label }) => (
          <button
            key={name}
            type="button"
            className="button small"
            onClick={() => document.getElementById(name)?.scrollIntoView()}
          >
            {label}
          </button>
        ))}
        {results.runs.length > 1 && (
          <Link className="button small" href={`/benchmarks/${id}/compare`}>
            Compare runs
          </Link>
        )}
      </nav>
      <Outcome id={id} results={results} details={details} />
      {parts.map(({ name, label, show }) => (
        <section key={name} id={name} className="part">
          <h2>{label}</h2>
          {show()}
        </section>
      ))}
    </>
  );
}
