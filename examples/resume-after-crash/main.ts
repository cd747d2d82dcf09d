/** `npm start [-- FILE]`: the main job, on files in ./.sessions. Each run adds a session. */
import { resolve } from "node:path"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { foreignSession } from "./imported-session.ts"
import { ownSession } from "./new-session.ts"
import * as print from "./print.ts"

const root = resolve(".sessions")
// npm starts scripts in the package's folder; a FILE is meant from where the person stands.
const file = process.argv[2] === undefined ? undefined : resolve(process.env["INIT_CWD"] ?? ".", process.argv[2])

const sessions = createSessions({ storage: createFileStorage({ root }) })
try {
  const id = file === undefined ? await ownSession(sessions, root) : await foreignSession(sessions, root, file)
  print.heading("The list")
  await print.list(sessions)
  print.heading("The files")
  for (const { at } of (await sessions.info(id)).parts) console.log(`  ${at}`)
  const command =
    process.env["npm_config_user_agent"]?.startsWith("pnpm") === true ? "pnpm sessions" : "npm run sessions --"
  console.log(`\nNext: ${command} list | show @last | context @last | tree @last | verify --all | --help`)
} catch (error) {
  console.error(`resume-after-crash: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
} finally {
  await sessions.close()
}
