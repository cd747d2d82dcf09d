import { type ErrorCode, SessionError, type Sessions } from "@sessions/core"
import { type SessionStorage, StorageError } from "@sessions/core/storage"
import { copySession, type ImportResult } from "@sessions/core/transfer"
import { type Command, defineCommand } from "../command.ts"
import { EXIT_FAILED, UsageError } from "../errors.ts"
import { diagnosticLines } from "../output/diagnostics.ts"
import { formatBytes, formatCount, formatNumber } from "../output/format.ts"
import { type Line, styled } from "../output/lines.ts"
import { allIds } from "../store/resolve.ts"

export const copy: Command = defineCommand({
  name: "copy",
  summary: "copy sessions to another store under the same ids",
  args: ["ID?"],
  options: {
    to: { type: "string", value: "URL", help: "target store" },
    all: { type: "boolean", help: "copy every session of the store" },
  },
  notes: [
    "Run the same command again to finish an interrupted copy, and to add what the sessions got since.",
    "With --all, a session that cannot be copied is reported, the others are copied, and the exit status is 1.",
  ],
  examples: [
    "copy @last --to file:/mnt/backup/sessions",
    "copy --all --to sqlite:./sessions.db",
    "copy 01JGN3 --to sqlite:./sessions.db --json",
  ],
  async run({ sessions, resolveSession, openTarget, args: [ref], values, callOptions, progress }) {
    if (values.to === undefined) throw new UsageError("copy needs --to URL, the target store.")
    if ((ref === undefined) !== (values.all === true)) throw new UsageError("copy needs either an ID or --all.")
    const target = await openTarget(values.to)
    const to = target.description
    const copyOne = (id: string, place: string): Promise<ImportResult> =>
      copySession(sessions, id, target, {
        ...callOptions,
        onProgress: ({ lines, bytes }) =>
          progress.update(() => `copying${place}: ${formatNumber(lines)} lines, ${formatBytes(bytes)}`),
      })
    try {
      if (ref !== undefined) {
        const result = await copyOne(await resolveSession(ref), "")
        return {
          json: { ...result, to },
          text: () => [...copiedLines(result, to), ...diagnosticLines(result.diagnostics)],
        }
      }
      const all = await copyAll(sessions, target, copyOne)
      return { json: { ...all, to }, exit: all.failed.length > 0 ? EXIT_FAILED : 0, text: () => allLines(all, to) }
    } finally {
      await target[Symbol.asyncDispose]()
    }
  },
})

interface Copied {
  readonly copied: readonly ImportResult[]
  readonly failed: readonly {
    readonly id: string
    readonly error: { readonly code: string; readonly message: string }
  }[]
}

async function copyAll(
  sessions: Sessions,
  target: SessionStorage,
  copyOne: (id: string, place: string) => Promise<ImportResult>,
): Promise<Copied> {
  const ids = await allIds(sessions)
  const copied: ImportResult[] = []
  const failed: Copied["failed"][number][] = []
  for (const [index, id] of ids.entries()) {
    try {
      copied.push(await copyOne(id, ` ${index + 1} of ${ids.length}`))
    } catch (error) {
      if (!(error instanceof SessionError || error instanceof StorageError)) throw error
      if (!(await isOfSession(error.code, target, id))) throw error
      // Without a log, the session was deleted in the meantime.
      if (error.code === "not_found" && (await sessions.storage.head(id)) === undefined) continue
      failed.push({ id, error: { code: error.code, message: error.message } })
    }
  }
  return { copied, failed }
}

/** Whether only this session cannot be copied: then the target still answers, and has space. */
async function isOfSession(code: ErrorCode, target: SessionStorage, id: string): Promise<boolean> {
  if (code === "aborted" || code === "quota") return false
  return await target.head(id).then(
    () => true,
    () => false,
  )
}

function copiedLines({ id, lines }: ImportResult, to: string): Line[] {
  return [`copied ${id} to ${to} (${formatCount(lines, "line")})`]
}

function allLines({ copied, failed }: Copied, to: string): Line[] {
  return [
    ...copied.flatMap(({ id, diagnostics }) => (diagnostics.length === 0 ? [] : [id, ...diagnosticLines(diagnostics)])),
    ...failed.map(({ id, error }): Line => [styled("red", "not copied"), ` ${id}  ${error.code}  ${error.message}`]),
    `copied ${formatCount(copied.length, "session")} to ${to}, ${failed.length} not copied`,
  ]
}
