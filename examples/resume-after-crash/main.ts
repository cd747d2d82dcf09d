/** `npm start [-- FILE]`: resumes a killed agent, or imports FILE, with sessions in ./.sessions. Each run adds a session. */
import { resolve } from "node:path"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { importAndResume } from "./imported-session.ts"
import { createAndResume } from "./new-session.ts"
import * as print from "./print.ts"

const root = resolve(".sessions")
// npm runs scripts in the folder of the package; FILE is relative to the user's folder, which npm passes in INIT_CWD.
const file = process.argv[2] === undefined ? undefined : resolve(process.env["INIT_CWD"] ?? ".", process.argv[2])

const sessions = createSessions({ storage: createFileStorage({ root }) })
try {
  const id = file === undefined ? await createAndResume(sessions, root) : await importAndResume(sessions, root, file)
  print.heading("All sessions")
  await print.list(sessions)
  print.heading("Files of this session")
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
