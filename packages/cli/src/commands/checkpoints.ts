import type { Snapshot, SnapshotFile } from "@sessions/checkpoints"
import { type Command, defineCommand } from "../command.ts"
import { checkpointsOf, rootOf } from "../checkpoints.ts"
import { fit, formatAge, formatCount, table } from "../output/format.ts"
import { entrySummary, preview } from "../output/messages.ts"
import { type Line, styled, type View } from "../output/lines.ts"

export const checkpoints: Command = defineCommand({
  name: "checkpoints",
  summary: "list the snapshots of the files that an agent edited, newest first",
  args: ["ID"],
  options: {},
  notes: [
    "A snapshot shows the files when the turn of a message began, or before a rewind. `sessions rewind` takes the id of",
    "the message, or of the snapshot. FILES counts those that had changed since the snapshot before.",
  ],
  examples: ["checkpoints @last", "checkpoints 01JGN3 --json"],
  async run({ sessions, resolveSession, args: [ref = ""], io, callOptions }) {
    const id = await resolveSession(ref)
    const session = await sessions.open(id, callOptions)
    try {
      const root = await rootOf(session, io, undefined)
      const rows: SnapshotRow[] = []
      for (const snapshot of await (await checkpointsOf(sessions, session, root)).list()) {
        const entry = await session.entry(snapshot.messageId, callOptions)
        const text = entry === undefined ? "" : preview(entrySummary(entry).text, PREVIEW_UNITS)
        rows.push({ ...snapshot, text })
      }
      return {
        json: { id, root, snapshots: rows },
        text: (view) => (rows.length === 0 ? [`${id} has no checkpoints.`] : snapshotLines(rows, view)),
      }
    } finally {
      await session.close()
    }
  },
})

interface SnapshotRow extends Snapshot {
  /** Of the message. */
  readonly text: string
}

const PREVIEW_UNITS = 100

function snapshotLines(rows: readonly SnapshotRow[], view: View): Line[] {
  const heading = ["SNAPSHOT", "AGE", "FILES", "MESSAGE", "TEXT"].map((name) => styled("dim", name))
  const cells = rows.map(({ id, at, files, messageId, reason, text }) => [
    id,
    formatAge(at, view.now),
    filesText(files),
    messageId,
    reason === "rewind" ? styled("yellow", "before a rewind to this message") : text,
  ])
  return table([heading, ...cells], ["left", "right", "left", "left", "left"]).map((line) => fit(line, view.columns))
}

function filesText(files: readonly SnapshotFile[]): string {
  const left = files.filter(({ state }) => state !== "file" && state !== "absent").length
  return left === 0 ? formatCount(files.length, "file") : `${formatCount(files.length, "file")}, ${left} not backed up`
}
