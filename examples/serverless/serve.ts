/** Serves the deployed module with `node:http` on loopback, and prints how to call it. `npm run dev` starts it. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { toNodeListener } from "@sessions/http/node"
import main from "./main.ts"

const { PORT = "8787", TOKEN, BUCKET, AWS_ENDPOINT_URL_S3 = "Amazon S3" } = process.env

const server = createServer(toNodeListener(main.fetch))
server.once("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EADDRINUSE") throw error
  console.error(`The port ${PORT} is in use: set PORT to another one, or to 0 for any.`)
  process.exitCode = 1
})
server.listen(Number(PORT), "127.0.0.1", () => {
  printExamples(`http://127.0.0.1:${(server.address() as AddressInfo).port}`).catch((error: unknown) => {
    console.error(error)
    process.exit(1)
  })
})

async function printExamples(address: string): Promise<void> {
  const authorization = `Bearer ${TOKEN}`
  const created = await fetch(`${address}/sessions`, { method: "POST", headers: { authorization } })
  if (created.status !== 201) throw new Error(`No session can be created: ${await created.text()}`)
  const session = `${address}/sessions/${((await created.json()) as { id: string }).id}`
  const asked = { id: "01K8ZQ4Y9G3V5N7B2M6X0CTRPD", text: "hello" }
  console.log(`Serving ${address}, with sessions in the bucket ${BUCKET} of ${AWS_ENDPOINT_URL_S3}. Ctrl-C stops it.
Token: ${TOKEN}

A turn in a new session; sent again, it returns the answer in the log:
curl -s ${session}/turns -H 'authorization: ${authorization}' -d '${JSON.stringify(asked)}'

Its messages:
curl -s ${session} -H 'authorization: ${authorization}'
`)
}
