import { Link } from "wouter";
import { Empty } from "@/parts/Notes";

export function NotFound() {
  return (
    <Empty title="There is nothing here">
      <p>
        The address may be mistyped, or what it named was deleted.{" "}
        <Link href="/benchmarks">All benchmarks</Link>
      </p>
    </Empty>
  );
}
