import { type Command, defineCommand } from "../command.ts"
import { migrateSession } from "@sessions/core/transfer"

export const migrate: Command = defineCommand({
  name: "migrate",
  summary: "upgrade an older log to version 4 and keep a backup",
  args: ["ID"],
  options: {},
  notes: [
    "Older logs can be read without migration; the first write migrates them. export --backup prints the backup.",
  ],
  examples: ["migrate @last", "export @last --backup --out before.jsonl"],
  async run({ sessions, resolveSession, args: [ref = ""], progress }) {
    const id = await resolveSession(ref)
    progress.update(() => `migrating ${id}`)
    const { migrated, from } = await migrateSession(sessions, id)
    const source = `${from.format} version ${from.version}`
    return {
      json: { id, migrated, from },
      text: () => [migrated ? `migrated ${id} from ${source}` : `${id} is already current (${source}); nothing to do`],
    }
  },
})
