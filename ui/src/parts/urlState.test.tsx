import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { useUrlState } from "./urlState";

function Two() {
  const [left, setLeft] = useUrlState("left", "");
  const [right, setRight] = useUrlState("right", "1");
  const both = () => {
    setLeft("a");
    setRight("2");
  };
  return (
    <button type="button" onClick={both}>
      {left} {right}
    </button>
  );
}

it("keeps what was set just before, by another name", async () => {
  render(<Two />);
  await userEvent.click(screen.getByRole("button"));
  expect(screen.getByRole("button").textContent).toBe("a 2");
});
