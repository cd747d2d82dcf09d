import { type Branch, sessionBranches } from "@sessions/core/transfer"
import { type Command, defineCommand } from "../command.ts"
import { fit, formatAge, formatNumber, table } from "../output/format.ts"
import { entrySummary, preview, roleSpan } from "../output/messages.ts"
import { type Line, type Span, styled, type View } from "../output/lines.ts"

export const branches: Command = defineCommand({
  name: "branches",
  summary: "list the branches of a session, newest first",
  args: ["ID"],
  options: { open: { type: "boolean", help: "only branches that no writer has left on purpose" } },
  notes: [
    "A branch is named by its last message. An open one was written by another process at the same time, and is",
    "not part of the context; `sessions branch` continues from it, or settles it. MESSAGES counts those that are",
    "not on the current branch.",
  ],
  examples: ["branches @last", "branches @last --open", "branches 01JGN3 --json"],
  async run({ sessions, resolveSession, args: [ref = ""], values, callOptions, progress }) {
    const id = await resolveSession(ref)
    progress.update(() => `reading ${id}`)
    const session = await sessions.open(id, callOptions)
    try {
      const all = await sessionBranches(session, callOptions)
      const rows: BranchRow[] = []
      for (const branch of all) {
        if (values.open === true && stateOf(branch) !== "open") continue
        const entry = await session.entry(branch.id, callOptions)
        const { kind, text } = entry === undefined ? { kind: "", text: "" } : entrySummary(entry)
        rows.push({ ...branch, kind, text: preview(text, PREVIEW_UNITS) })
      }
      return {
        json: { id, leafId: session.leafId, branches: rows },
        text: (view) => (rows.length === 0 ? [emptyText(id, values.open === true)] : branchLines(rows, view)),
      }
    } finally {
      await session.close()
    }
  },
})

interface BranchRow extends Branch {
  /** Of the last message: its role, or the type of the entry. */
  readonly kind: string
  readonly text: string
}

const PREVIEW_UNITS = 100

function branchLines(rows: readonly BranchRow[], view: View): Line[] {
  const heading = ["BRANCH", "AGE", "MESSAGES", "STATE", "ROLE", "LAST MESSAGE"].map((name) => styled("dim", name))
  const cells = rows.map((row): Span[] => {
    const state = stateOf(row)
    return [
      row.id,
      formatAge(row.timestamp, view.now),
      formatNumber(row.messages),
      state === "open" ? styled("yellow", state) : state,
      roleSpan(row.kind),
      row.text,
    ]
  })
  return table([heading, ...cells], ["left", "right", "right", "left", "left", "left"]).map((line) =>
    fit(line, view.columns),
  )
}

function stateOf({ settled, current }: Branch): "current" | "settled" | "open" {
  if (current) return "current"
  return settled ? "settled" : "open"
}

function emptyText(id: string, open: boolean): string {
  return open ? `No branch of ${id} is open.` : `${id} has no messages.`
}
