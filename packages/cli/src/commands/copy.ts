import { type Command, defineCommand } from "../command.ts"
import { UsageError } from "../errors.ts"
import { formatBytes, formatCount, formatNumber } from "../output/format.ts"

export const copy: Command = defineCommand({
  name: "copy",
  summary: "copy a session to another store under the same id",
  args: ["ID"],
  options: { to: { type: "string", value: "URL", help: "target store" } },
  notes: ["Run the same command again to finish an interrupted copy."],
  examples: ["copy @last --to file:/mnt/backup/sessions", "copy 01JGN3 --to sqlite:./sessions.db --json"],
  async run({ sessions, resolveSession, openStore, args: [ref = ""], values: { to }, callOptions, progress }) {
    if (to === undefined) throw new UsageError("copy needs --to URL, the target store.")
    const target = await openStore(to)
    try {
      const id = await resolveSession(ref)
      const result = await sessions.copy(id, target, {
        ...callOptions,
        onProgress: ({ lines, bytes }) =>
          progress.update(() => `copying: ${formatNumber(lines)} lines, ${formatBytes(bytes)}`),
      })
      return {
        json: { ...result, to: target.description },
        text: () => [`copied ${id} to ${target.description} (${formatCount(result.lines, "line")})`],
      }
    } finally {
      await target[Symbol.asyncDispose]()
    }
  },
})
