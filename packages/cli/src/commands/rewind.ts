import type { Rewound } from "@sessions/checkpoints"
import { checkpointsOf, rootOf } from "../checkpoints.ts"
import { type Command, defineCommand } from "../command.ts"
import { confirmed } from "../confirm.ts"
import { CommandError, EXIT_FAILED, UsageError } from "../errors.ts"
import { formatCount } from "../output/format.ts"
import { type Line, styled, writeLines } from "../output/lines.ts"

export const rewind: Command = defineCommand({
  name: "rewind",
  summary: "return the files that an agent edited to what they were before a message",
  args: ["ID", "MESSAGE"],
  options: {
    root: { type: "string", value: "DIR", help: "folder of the files (default: the session's, else the current one)" },
    conversation: { type: "boolean", help: "also continue the conversation from before the message" },
    "dry-run": { type: "boolean", help: "only show what would be done" },
    yes: { type: "boolean", help: "do not ask" },
  },
  notes: [
    "MESSAGE is the id of a user message, or of a snapshot, as `sessions checkpoints` shows them. What would be done is shown",
    "first, then you are asked; without a terminal --yes is needed. The files as they are now are kept in a snapshot of their",
    "own, whose id is printed: a rewind to it undoes this one. Do not rewind while an agent works on the session.",
  ],
  examples: [
    "rewind @last 01JGN4A8X0V1S2E9QH5T6B7C3D --dry-run",
    "rewind @last 01JGN4A8X0V1S2E9QH5T6B7C3D --conversation --yes",
  ],
  async run({ sessions, resolveSession, args: [ref = "", target = ""], values, json, io, callOptions, progress }) {
    const isDry = values["dry-run"] === true
    const asks = !isDry && values.yes !== true
    if (asks && (json || !io.stdout.isTerminal))
      throw new UsageError("rewind asks before it changes files: add --yes, or --dry-run to see what would be done.")
    const id = await resolveSession(ref)
    const session = await sessions.open(id, callOptions)
    try {
      const root = await rootOf(session, io, values.root)
      const checkpoints = await checkpointsOf(sessions, session, root)
      const options = { ...callOptions, conversation: values.conversation === true }
      if (isDry || asks) {
        const planned = await checkpoints.rewind(target, { ...options, dryRun: true })
        if (isDry) return { json: toJson(id, root, planned), text: () => lines(planned, root, true) }
        await writeLines(io.stdout, lines(planned, root, true), io.env)
        if (!(await confirmed(io, "Rewind these files?"))) throw new CommandError("nothing was changed.")
      }
      progress.update(() => `rewinding ${root}`)
      const done = await checkpoints.rewind(target, options)
      return {
        json: toJson(id, root, done),
        text: () => lines(done, root, false),
        ...(done.failed.length > 0 && { exit: EXIT_FAILED }),
      }
    } finally {
      await session.close()
    }
  },
})

function toJson(id: string, root: string, { failed, ...rewound }: Rewound): unknown {
  const failures = failed.map(({ path, error }) => ({ path, message: error.message }))
  return { id, root, ...rewound, failed: failures }
}

function* lines(
  { restored, removed, unchanged, skipped, failed, undo }: Rewound,
  root: string,
  planned: boolean,
): Generator<Line> {
  const [restore, remove] = planned ? ["restore", "remove"] : ["restored", "removed"]
  for (const path of restored) yield [styled("green", restore), " ", path]
  for (const path of removed) yield [styled("red", remove), " ", path]
  for (const { path, reason } of skipped) yield [styled("yellow", "skipped"), ` ${path} (${reason})`]
  for (const { path, error } of failed) yield [styled("red", "failed"), ` ${path}: ${error.message}`]
  yield `${formatCount(unchanged.length, "file")} of ${root} unchanged`
  if (undo !== undefined) yield `undo: sessions rewind with ${undo}`
}
