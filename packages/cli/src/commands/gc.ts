import { type Command, defineCommand } from "../command.ts"
import { UsageError } from "../errors.ts"
import { ageOption } from "../option-values.ts"
import { formatBytes, formatCount } from "../output/format.ts"
import { collect } from "@sessions/core/transfer"

/** That of `collect`, whose error names options of the library. */
const LEAST_AGE = 2 * 3_600_000

export const gc: Command = defineCommand({
  name: "gc",
  summary: "remove blobs that no session mentions, and what deletions and crashes left",
  args: [],
  options: {
    "older-than": { type: "string", value: "AGE", help: "age of blobs that may go, from 2h on; default 24h" },
    "without-sessions": { type: "boolean", help: "also if there is no session, so that every blob goes" },
    "dry-run": { type: "boolean", help: "only print what would be removed" },
  },
  notes: [
    "Blobs that were put within the last day, or --older-than, stay, because a writer may be about to mention them. Safe while agents run.",
    "If a session cannot be read, no blob is removed: verify --all names such sessions. If there are blobs and no session, that may be the",
    "wrong place, so no blob is removed without --without-sessions.",
  ],
  examples: ["gc --dry-run", "gc --older-than 2h", "gc --store s3:bucket/prefix"],
  async run({ sessions, values, callOptions, progress }) {
    const dryRun = values["dry-run"] === true
    const olderThan = ageOption("older-than", values["older-than"])
    if (olderThan !== undefined && olderThan < LEAST_AGE)
      throw new UsageError("--older-than must be at least 2h: a writer may be about to mention a younger blob.")
    progress.update(() => "reading all sessions for the blobs that they mention")
    const withoutSessions = values["without-sessions"] === true
    const { removed, bytes, swept } = await collect(sessions, {
      ...callOptions,
      ...(olderThan !== undefined && { olderThan }),
      withoutSessions,
      dryRun,
    })
    const verb = dryRun ? "would remove" : "removed"
    return {
      json: { removed, bytes, swept, dryRun },
      text: () => [
        `${verb} ${formatCount(removed, "blob")} (${formatBytes(bytes)}) and ${formatCount(swept.removed, "remain")} (${formatBytes(swept.bytes)})`,
        ...(swept.left > 0 ? [`${swept.left} could not be removed; the next gc tries again.`] : []),
      ],
    }
  },
})
