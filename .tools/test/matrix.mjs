import { readFileSync } from "node:fs"
import { join } from "node:path"
import { cellsOf, columnsOfThisRun, conformanceCounts, matrixTable } from "../lib/matrix.mjs"
import { root } from "../lib/workspace.mjs"

const BEGIN = "<!-- conformance: written by `pnpm test:conformance --readme` -->"
const END = "<!-- /conformance -->"

/** The matrix in the README of the suite has the results of this run. In a part of a deep run it is compared where that has all reports of a column. */
export const matrix = {
  name: "matrix",
  alone: true,
  async run() {
    const table = matrixTable(conformanceCounts())
    const { whole, others } = columnsOfThisRun()
    const readme = readFileSync(join(root, "conformance", "README.md"), "utf8")
    const wrong = differences(cellsOf(tableIn(readme)), cellsOf(table), whole)
    return {
      passed: wrong.length > 0 ? 0 : whole.length,
      failed: wrong.length > 0 ? 1 : 0,
      skipped: others.length,
      output: `conformance/README.md differs from this run; \`pnpm test:conformance --readme\` writes it:\n${wrong.join("\n")}`,
      measured: others.length > 0 ? [`not compared, since their reports are of other parts: ${others.join(", ")}`] : [],
    }
  },
}

/** The cells of some columns in which two tables differ, a line each. */
export function differences(written, found, columns) {
  const adapters = [...new Set([...Object.keys(written), ...Object.keys(found)])].toSorted()
  return adapters.flatMap((adapter) =>
    columns.flatMap((column) => {
      const [is, should] = [written[adapter]?.[column] ?? "", found[adapter]?.[column] ?? ""]
      return is === should ? [] : [`${adapter}, ${column}: ${is || "empty"} should be ${should || "empty"}`]
    }),
  )
}

/** The text with the table between its markers. */
export function inReadme(text, table) {
  const [from, to] = placeIn(text)
  return `${text.slice(0, from)}\n\n${table}\n\n${text.slice(to)}`
}

function tableIn(text) {
  return text.slice(...placeIn(text))
}

/** Where the table is: behind the first marker, before the second. */
function placeIn(text) {
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (from === -1 || to < from) throw new Error(`The text lacks the markers ${BEGIN} and ${END}.`)
  return [from + BEGIN.length, to]
}
