import type { Command } from "../command.ts"
import { defineCommand } from "../command.ts"
import { diagnosticLines } from "../output/diagnostics.ts"
import { fit, formatNumber } from "../output/format.ts"
import { entrySummary, preview, roleSpan } from "../output/messages.ts"
import type { Line, Span } from "../output/lines.ts"
import { styled } from "../output/lines.ts"
import { shorten, treeRows } from "../output/tree-rows.ts"
import type { ShortRow, TreeRow } from "../output/tree-rows.ts"

export const tree: Command = defineCommand({
  name: "tree",
  summary: "every entry of a session, branch by branch",
  args: ["ID"],
  options: { short: { type: "boolean", help: "leave out the middle of long stretches without a branch" } },
  notes: [
    "* is on the way to where the session stands (@); branches it does not take are indented under the entry they leave from.",
  ],
  examples: ["tree @last", "tree 01JGN3 --short", "tree @last --json"],
  async run({ sessions, session: resolve, args: [ref = ""], values, call }) {
    const id = await resolve(ref)
    const session = await sessions.open(id, call)
    try {
      const found = await session.tree(call)
      const rows = treeRows(found)
      const shown: readonly ShortRow[] = values.short === true ? shorten(rows) : rows
      return {
        json: { id, leafId: found.leafId, entries: rows.map(toJson), diagnostics: found.diagnostics },
        text: (view) => [
          ...diagnosticLines(found.diagnostics, SHOWN_DIAGNOSTICS),
          ...shown.map((row) => fit(typeof row === "number" ? gap(row) : rowLine(row, found.leafId), view.columns)),
        ],
      }
    } finally {
      await session.close()
    }
  },
})

const SHOWN_DIAGNOSTICS = 10
const PREVIEW_UNITS = 100

/** Flat: nested as deep as a conversation is long, no reader of JSON would take it. */
function toJson({ node, depth, onPath }: TreeRow): object {
  const { entry, seq, label, deleted } = node
  const { kind, text } = entrySummary(entry)
  return {
    id: entry.id,
    parentId: entry.parentId,
    seq,
    type: entry.type,
    timestamp: entry.timestamp,
    ...(entry.type === "message" ? { role: kind } : {}),
    text: preview(text, PREVIEW_UNITS),
    depth,
    onPath,
    ...(label === undefined ? {} : { label }),
    ...(deleted === true ? { deleted } : {}),
  }
}

function rowLine({ node, depth, onPath, starts }: TreeRow, leafId: string | null): Line {
  const { entry, label, deleted } = node
  const { kind, text } = entrySummary(entry)
  const mark = onPath ? (entry.id === leafId ? "@" : "*") : starts ? "└" : " "
  const line: Span[] = ["  ".repeat(depth), `${mark} `, styled("dim", `${entry.id}  `), roleSpan(kind)]
  if (label !== undefined) line.push(" ", styled("yellow", `[${label}]`))
  if (deleted === true) line.push(" ", styled("red", "(deleted)"))
  const shown = preview(text, PREVIEW_UNITS)
  return shown === "" ? line : [...line, "  ", shown]
}

function gap(count: number): Line {
  return styled("dim", `  … ${formatNumber(count)} entries`)
}
