// docs/track-record.md, written from the rows.
import { join } from "node:path"
import { root } from "../lib/workspace.mjs"

export const path = join(root, "docs", "track-record.md")

const HEAD = `# Track record

For everyone who wants to see what was wrong. Each defect of stored data or of answers that was found in this project: how it was found, the rule that holds now, and what shows that the rule is
tested. Behind each row is a patch that takes the fix out again; the tests of the last column fail with it, or, for a mutant, a storage with that one defect in
\`conformance/src/mutants\`, the suite fails.

\`\`\`sh
pnpm test:track-record             # applies the patches of all rows to a copy of the work tree, one by one; part of \`npm run test:deep\`
pnpm test:track-record s3-late     # the rows whose name has this in it
\`\`\`

A row is a file in \`.tools/track-record/rows\`; a fix adds one. \`pnpm docs:track-record\` writes this page.
`

export function toPage(rows) {
  const table = rows.map(({ name, defect, foundBy, rule, proofs }) => [
    defect,
    foundBy,
    rule,
    [...new Set(proofs.map(textOf))].join("; "),
    `[${name}](../.tools/track-record/rows/${name}.patch)`,
  ])
  const lines = [["defect", "found by", "rule", "fails without the fix", "row"], Array(5).fill("---"), ...table]
  return `${HEAD}\n${lines.map((cells) => `| ${cells.map(escaped).join(" | ")} |`).join("\n")}\n`
}

function textOf({ kind, text }) {
  if (kind === "Test") return text.replace(/^(\S+) > (.*)$/, "`$1`, “$2”")
  return kind === "Mutant" ? `mutant “${text}”` : `\`${text}\``
}

/** A line in a cell of a table cannot have a bar. */
function escaped(text) {
  return text.replaceAll(/(?<!\\)\|/g, String.raw`\|`)
}
