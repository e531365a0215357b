import { Link } from "wouter";
import { Empty } from "@/parts/Notes";

type Props = { to?: string; label?: string };

export function NotFound({ to = "/benchmarks", label = "All benchmarks" }: Props) {
  return (
    <Empty title="Page not found">
      <p>
        The address may be wrong, or the item was deleted. <Link href={to}>{label}</Link>
      </p>
    </Empty>
  );
}
