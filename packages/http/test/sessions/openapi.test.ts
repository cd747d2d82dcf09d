/** The OpenAPI document has every route, and the file of the package is current. */
import { sessionOpenApi, sessionRoutes } from "@sessions/http/server"
import { expect, test } from "vitest"

test("openapi.json is what the routes say", async () => {
  // Written by `pnpm test:unit packages/http/test/sessions/openapi.test.ts -u`.
  await expect(`${JSON.stringify(sessionOpenApi(), null, 2)}\n`).toMatchFileSnapshot("../../openapi.json")
})

test("every route is an operation with its parameters, body, answers and refusals", () => {
  const { paths } = sessionOpenApi() as { paths: Record<string, Record<string, Operation>> }
  for (const { action, method, path, body, answers, query } of sessionRoutes) {
    const operation = paths[path.replaceAll(/:([a-z]+)/g, "{$1}")]?.[method.toLowerCase()]
    expect(operation?.operationId).toBe(action)
    const names = [...path.matchAll(/:([a-z]+)/g)].map(([, name]) => name)
    const given = [...names, ...Object.keys(query?.shape ?? {})]
    expect(operation?.parameters.map(({ name }) => name)).toEqual(given)
    expect(operation?.requestBody === undefined).toBe(body === undefined)
    expect(Object.keys(operation?.responses ?? {})).toEqual(
      expect.arrayContaining([...Object.keys(answers), "404", "500"]),
    )
  }
})

test("every reference of the document is to a schema that it has", () => {
  const text = JSON.stringify(sessionOpenApi())
  const { components } = sessionOpenApi() as { components: { schemas: object } }
  const names = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name ?? "")
  expect(new Set(names)).toEqual(new Set(["Error", "Message", "SessionInfo"]))
  expect(Object.keys(components.schemas)).toEqual(expect.arrayContaining(names))
  expect(text).not.toContain("$defs")
})

interface Operation {
  readonly operationId: string
  readonly parameters: readonly { readonly name: string }[]
  readonly requestBody?: unknown
  readonly responses: Record<string, unknown>
}
