/** Writes a session as the command of the Claude Agent SDK leaves it in its folder, so that the example needs neither the command nor a model. */
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"

export const SESSION_ID = "11111111-1111-4111-8111-111111111111"

/** The name of a project's folder is its path, with `-` for what is neither a letter nor a digit. */
export async function writeLocalSession(config: string, cwd: string): Promise<string> {
  const folder = join(config, "projects", cwd.replaceAll(/[^A-Za-z0-9]/g, "-"))
  await mkdir(folder, { recursive: true })
  const base = { sessionId: SESSION_ID, cwd, version: "2.1.330", isSidechain: false, userType: "external" }
  const answer = { id: "msg_1", type: "message", role: "assistant", model: "scripted" }
  const lines = [
    { ...line(1), ...base, type: "user", message: { role: "user", content: "Which port does the service use?" } },
    { ...line(2), ...base, type: "assistant", message: { ...answer, content: [{ type: "text", text: "Port 8080." }] } },
    { type: "custom-title", customTitle: "The port", sessionId: SESSION_ID },
  ]
  await writeFile(join(folder, `${SESSION_ID}.jsonl`), lines.map((one) => `${JSON.stringify(one)}\n`).join(""))
  return folder
}

function line(n: number): object {
  return {
    uuid: uuid(n),
    parentUuid: n === 1 ? null : uuid(n - 1),
    timestamp: `2026-01-31T09:30:0${n}.000Z`,
  }
}

function uuid(n: number): string {
  return `00000000-0000-4000-8000-00000000000${n}`
}
