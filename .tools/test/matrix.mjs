import { readFileSync } from "node:fs"
import { join } from "node:path"
import { conformanceCounts, matrixTable, missingReports } from "../lib/matrix.mjs"
import { root } from "../lib/workspace.mjs"

const BEGIN = "<!-- conformance: written by `pnpm test:conformance --readme` -->"
const END = "<!-- /conformance -->"

/** Checks that the matrix in the README of the suite has the results of this run. */
export const matrix = {
  name: "matrix",
  alone: true,
  absent: () => {
    const missing = missingReports()
    return missing.length === 0 ? undefined : `not the whole suite ran: ${missing.join(", ")} missing`
  },
  async run() {
    const readme = readFileSync(join(root, "conformance", "README.md"), "utf8")
    const table = matrixTable(conformanceCounts())
    const right = inReadme(readme, table) === readme
    const output = `The matrix of conformance/README.md differs from this run. \`pnpm test:conformance --readme\` writes it:\n${table}`
    return { passed: right ? 1 : 0, failed: right ? 0 : 1, skipped: 0, output }
  },
}

/** The text with the table between its markers. */
export function inReadme(text, table) {
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (from === -1 || to < from) throw new Error(`The text lacks the markers ${BEGIN} and ${END}.`)
  return `${text.slice(0, from)}${BEGIN}\n\n${table}\n\n${text.slice(to)}`
}
