/** Runs one instance of the function for one request: `function-process.ts SHAPE METHOD PATH [BODY]`. */
import main, { handler } from "../../main.ts"

const [shape, method = "GET", path = "/", body] = process.argv.slice(2)

const headers = { authorization: `Bearer ${process.env["TOKEN"]}` }

async function answer(): Promise<{ readonly status: number; readonly body: unknown }> {
  if (shape === "lambda") {
    const requestContext = { domainName: "agent.example", http: { method } }
    const { statusCode, body: text } = await handler({
      rawPath: path,
      requestContext,
      headers,
      ...(body !== undefined && { body }),
    })
    return { status: statusCode, body: JSON.parse(text) as unknown }
  }
  const request = new Request(`https://agent.example${path}`, { method, headers, ...(body !== undefined && { body }) })
  const response = await main.fetch(request)
  return { status: response.status, body: await response.json() }
}

process.stdout.write(JSON.stringify(await answer()))
// The instance ends with its request, so its open connections must not keep the process alive.
process.exit()
