import * as z from "zod"
import { block, message } from "./content.ts"
import { entry } from "./entries.ts"
import { header } from "./header.ts"
import { sessionInfo } from "./info.ts"

/**
 * JSON Schema (draft 2020-12) of every record, by file name. They refer to one another by these names. The same as the files under
 * `json/` of this package.
 */
export function jsonSchemas(): Readonly<Record<string, z.core.JSONSchema.BaseSchema>> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(SCHEMAS)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { uri: fileName })
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [fileName(id), schema]))
}

const SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  block,
  entry,
  header,
  message,
  "session-info": sessionInfo,
}

function fileName(id: string): string {
  return `${id}.json`
}
