import { type DeletedSessions, deleteOldSessions } from "@sessions/core/transfer"
import { type Command, defineCommand } from "../command.ts"
import { confirmed } from "../confirm.ts"
import { CommandError, EXIT_FAILED, UsageError } from "../errors.ts"
import { ageOption, choiceOption } from "../option-values.ts"
import { formatBytes, formatCount } from "../output/format.ts"
import { type Line, styled } from "../output/lines.ts"
import { absoluteFolder } from "../store/resolve.ts"

const SOURCES = ["interactive", "cron"] as const

export const retention: Command = defineCommand({
  name: "retention",
  summary: "delete the sessions whose last message is old",
  args: [],
  options: {
    "older-than": { type: "string", value: "AGE", help: "age of the last message, such as 12h, 30d or 8w" },
    cwd: { type: "string", value: "PATH", help: "only sessions of this folder (. is the current one)" },
    source: { type: "string", value: "SOURCE", choices: SOURCES, help: "only interactive or cron sessions" },
    "dry-run": { type: "boolean", help: "only print what would be deleted" },
    yes: { type: "boolean", help: "do not ask" },
  },
  notes: [
    "Deleted sessions cannot be restored. The command asks first; without a terminal --yes or --dry-run is needed.",
    "Sessions that change meanwhile, or for which a server has prompts, stay. Exit status 1: some could not be read or deleted.",
  ],
  examples: ["retention --older-than 30d --dry-run", "retention --older-than 8w --cwd /srv/agent --yes"],
  async run({ sessions, values, json, io, callOptions, progress }) {
    const olderThan = ageOption("older-than", values["older-than"])
    if (olderThan === undefined || olderThan === 0)
      throw new UsageError("retention needs --older-than AGE, such as 30d.")
    const source = choiceOption("source", values.source, SOURCES, undefined)
    const cwd = values.cwd === undefined ? undefined : absoluteFolder(values.cwd, io.cwd)
    const options = {
      ...callOptions,
      olderThan,
      ...(cwd !== undefined && { cwd }),
      ...(source !== undefined && { source }),
    }
    const dryRun = values["dry-run"] === true
    const asks = !dryRun && values.yes !== true
    if (asks && (json || !io.stdout.isTerminal))
      throw new UsageError(
        "retention asks before it deletes sessions: add --yes, or --dry-run to see what would be deleted.",
      )
    progress.update(() => "looking for old sessions")
    if (asks) {
      const { removed } = await deleteOldSessions(sessions, { ...options, dryRun: true })
      await progress.clear()
      const question = `Delete ${formatCount(removed.length, "session")} (${formatBytes(sizeOf(removed))}) for good?`
      if (removed.length > 0 && !(await confirmed(io, question))) throw new CommandError("nothing was deleted.")
    }
    progress.update(() => (dryRun ? "looking for old sessions" : "deleting old sessions"))
    const outcome = await deleteOldSessions(sessions, { ...options, dryRun })
    return {
      json: { ...outcome, skipped: outcome.skipped.map(toJson), dryRun },
      exit: outcome.skipped.some(({ why }) => why === "failed") ? EXIT_FAILED : 0,
      text: () => linesOf(outcome, dryRun),
    }
  },
})

function sizeOf(removed: DeletedSessions["removed"]): number {
  return removed.reduce((sum, { bytes }) => sum + bytes, 0)
}

function toJson({ error, ...skipped }: DeletedSessions["skipped"][number]): object {
  if (error === undefined) return skipped
  const { code, message } = error as { code?: string; message?: string }
  return { ...skipped, error: { code, message } }
}

function linesOf({ removed, skipped }: DeletedSessions, dryRun: boolean): Line[] {
  const verb = dryRun ? "would delete" : "deleted"
  return [
    ...removed.map(({ id, lastMessageAt, bytes }): Line => `${id}  ${lastMessageAt}  ${formatBytes(bytes)}`),
    ...skipped.map(
      ({ id, why, error }): Line => [
        styled(why === "failed" ? "red" : "yellow", why),
        `  ${id}${error instanceof Error ? `  ${error.message}` : ""}`,
      ],
    ),
    `${verb} ${formatCount(removed.length, "session")} (${formatBytes(sizeOf(removed))}), ${skipped.length} skipped`,
    ...(removed.some(({ purged }) => !purged) ? ["Some bytes could not be removed; gc tries again."] : []),
  ]
}
