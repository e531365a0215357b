import { act, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Link, Router, useLocation } from "wouter";
import { currentSearch, readSearchFrom } from "@/parts/search";
import { useUrlState } from "@/parts/urlState";
import { fileHref, hashSearch, startAt, useFileLocation, useHashSearch } from "./location";

const HOME = "/benchmarks/some-id";

beforeEach(() => {
  startAt(HOME);
  readSearchFrom(hashSearch);
});
afterEach(() => readSearchFrom(() => window.location.search));

function Where() {
  const [location] = useLocation();
  const [tab, setTab] = useUrlState("tab", "runs");
  return (
    <>
      <p>{`${location} ${tab}`}</p>
      <Link href={`${HOME}/queries/q%2F1?left=a`}>query</Link>
      <button type="button" onClick={() => setTab("heat")}>
        heat
      </button>
    </>
  );
}

const open = () =>
  render(
    <Router hook={useFileLocation} searchHook={useHashSearch} hrefs={fileHref}>
      <Where />
    </Router>,
  );

it("keeps the links of the service, and its own address short and after the hash", () => {
  open();
  expect(screen.getByText(`${HOME} runs`)).toBeTruthy();
  const link = screen.getByText("query");
  expect(link.getAttribute("href")).toBe("#/queries/q%2F1?left=a");
  act(() => link.click());
  expect(window.location.hash).toBe("#/queries/q%2F1?left=a");
  expect(screen.getByText(`${HOME}/queries/q%2F1 runs`)).toBeTruthy();
  act(() => screen.getByText("heat").click());
  expect(currentSearch()).toBe("left=a&tab=heat");
  expect(window.location.pathname).toBe("/");
});
