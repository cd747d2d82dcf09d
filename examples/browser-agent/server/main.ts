/**
 * Runs the server of the page. `TOKENS` names a file with a line `NAME TOKEN` for each person; `DATA` is the folder of the sessions (default
 * `./data`), `PORT` the port on 127.0.0.1 (default 8080). For other machines put a server with TLS in front of it.
 */
import { readFile } from "node:fs/promises"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import { toNodeListener } from "@sessions/http/node"
import { createSite, parseTokens } from "./site.ts"

const { TOKENS, DATA = "data", PORT = "8080" } = process.env
if (TOKENS === undefined) throw new Error("Set TOKENS to a file with a line NAME TOKEN for each person.")
const dist = fileURLToPath(new URL("../dist", import.meta.url))
const site = createSite({ dist, data: DATA, tokens: parseTokens(await readFile(TOKENS, "utf8")) })
createServer(toNodeListener(site)).listen(Number(PORT), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${PORT}/`)
})
