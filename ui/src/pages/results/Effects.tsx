/** What the tags of the queries and the options of the runs show; nothing where they show nothing. */
export function Effects({ sentences }: { sentences: readonly string[] }) {
  if (sentences.length === 0) return null;
  return (
    <ul className="insights" aria-label="Effects of tags and options">
      {sentences.map((sentence) => (
        <li key={sentence}>{sentence}</li>
      ))}
    </ul>
  );
}
