import { SessionError } from "@sessions/core"
import { StorageError } from "@sessions/core/storage"
import { type MergeResult, mergeSession } from "@sessions/core/transfer"
import { type Command, defineCommand } from "../command.ts"
import { EXIT_FAILED, UsageError } from "../errors.ts"
import { diagnosticLines } from "../output/diagnostics.ts"
import { formatCount } from "../output/format.ts"
import { type Line, styled } from "../output/lines.ts"
import { allIds } from "../store/resolve.ts"

export const merge: Command = defineCommand({
  name: "merge",
  summary: "bring sessions here and in another store to the same entries",
  args: ["ID?"],
  options: {
    with: { type: "string", value: "URL", help: "the other store; both are written to" },
    all: { type: "boolean", help: "merge every session of this store" },
  },
  notes: [
    "A session that is missing there is copied; one that was deleted there after a merge is reported and does not come back.",
    "Both stores have to be there: copy --to creates one. Sessions that only the other store has are not fetched: copy them from there.",
    "With --all, a session that cannot be merged is reported, the others are merged, and the exit status is 1.",
  ],
  examples: ["merge @last --with file:/mnt/laptop/sessions", "merge --all --with sqlite:./sessions.db"],
  async run({ sessions, resolveSession, openTarget, args: [ref], values, callOptions, progress }) {
    if (values.with === undefined) throw new UsageError("merge needs --with URL, the other store.")
    if ((ref === undefined) !== (values.all === true)) throw new UsageError("merge needs either an ID or --all.")
    const other = await openTarget(values.with, { create: false, option: "--with" })
    try {
      if (ref !== undefined) {
        const id = await resolveSession(ref)
        progress.update(() => `merging ${id}`)
        const result = await mergeSession(sessions, id, other, callOptions)
        return { json: { id, with: other.description, ...result }, text: () => resultLines(id, result) }
      }
      const merged: (MergeResult & { readonly id: string })[] = []
      const failed: Failed[] = []
      const ids = await allIds(sessions)
      for (const [index, id] of ids.entries()) {
        progress.update(() => `merging ${index + 1} of ${ids.length}: ${id}`)
        try {
          merged.push({ id, ...(await mergeSession(sessions, id, other, callOptions)) })
        } catch (error) {
          if (!(error instanceof SessionError || error instanceof StorageError)) throw error
          if (!OF_SESSION.has(error.code)) throw error
          failed.push({ id, error: { code: error.code, message: error.message } })
        }
      }
      return {
        json: { merged, failed, with: other.description },
        exit: failed.length > 0 ? EXIT_FAILED : 0,
        text: () => [
          ...merged.flatMap(({ id, ...result }) => (isQuiet(result) ? [] : resultLines(id, result))),
          ...failed.map(
            ({ id, error }): Line => [styled("red", "not merged"), ` ${id}  ${error.code}  ${error.message}`],
          ),
          `merged ${formatCount(merged.length, "session")} with ${other.description}, ${failed.length} not merged`,
        ],
      }
    } finally {
      await other[Symbol.asyncDispose]()
    }
  },
})

interface Failed {
  readonly id: string
  readonly error: { readonly code: string; readonly message: string }
}

/** Codes that concern one session: the others can still be merged. */
const OF_SESSION: ReadonlySet<string> = new Set([
  "not_found",
  "exists",
  "corrupt",
  "too_large",
  "read_only",
  "conflict",
  "not_a_session",
  "newer_version",
])

function isQuiet({ sent, received, openTips, differing, diagnostics }: MergeResult): boolean {
  return sent + received + openTips.tips.length + differing.length + diagnostics.length === 0
}

function resultLines(id: string, { sent, received, openTips, differing, diagnostics }: MergeResult): Line[] {
  return [
    `${id}  sent ${formatCount(sent, "entry", "entries")}, received ${received}`,
    ...openTips.tips.map((tip): Line => `  open branch at ${tip.id}`),
    ...differing.map((entry): Line => [styled("red", "  differs"), ` ${entry}`]),
    ...diagnosticLines(diagnostics),
  ]
}
