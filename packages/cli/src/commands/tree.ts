import { type Command, defineCommand } from "../command.ts"
import { diagnosticLines } from "../output/diagnostics.ts"
import { fit, formatNumber } from "../output/format.ts"
import { entrySummary, preview, roleSpan } from "../output/messages.ts"
import { type Line, type Span, styled } from "../output/lines.ts"
import { shorten, type ShortRow, type TreeRow, treeRows } from "../output/tree-rows.ts"
import { sessionTree } from "@sessions/core/transfer"

export const tree: Command = defineCommand({
  name: "tree",
  summary: "show every entry of a session, branch by branch",
  args: ["ID"],
  options: { short: { type: "boolean", help: "omit the middle of long runs without a branch" } },
  notes: ["@ marks the leaf, * the entries on its path. Other branches are indented below the entry they branch from."],
  examples: ["tree @last", "tree 01JGN3 --short", "tree @last --json"],
  async run({ sessions, resolveSession, args: [ref = ""], values, callOptions, progress }) {
    const id = await resolveSession(ref)
    progress.update(() => `reading ${id}`)
    const session = await sessions.open(id, callOptions)
    try {
      const tree = await sessionTree(session, callOptions)
      const rows = treeRows(tree)
      const shown: readonly ShortRow[] = values.short === true ? shorten(rows) : rows
      return {
        json: { id, leafId: tree.leafId, entries: rows.map(toJson), diagnostics: tree.diagnostics },
        text: (view) => [
          ...diagnosticLines(tree.diagnostics, MAX_DIAGNOSTICS),
          ...shown.map((row) =>
            fit(typeof row === "number" ? omittedLine(row) : rowLine(row, tree.leafId), view.columns),
          ),
        ],
      }
    } finally {
      await session.close()
    }
  },
})

const MAX_DIAGNOSTICS = 10
const PREVIEW_UNITS = 100

/** A flat list, because JSON parsers limit the nesting, and a tree is as deep as the conversation is long. */
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

function omittedLine(count: number): Line {
  return styled("dim", `  … ${formatNumber(count)} entries`)
}
