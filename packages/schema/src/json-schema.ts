/** The JSON Schemas, generated from the zod schemas. */
import * as z from "zod"
import { block, message } from "./content.ts"
import { entry } from "./entries.ts"
import { header } from "./header.ts"
import { sessionInfo } from "./info.ts"

/**
 * JSON Schemas (draft 2020-12) of every record, by file name. They refer to each other by these names. The files in `json/` of this
 * package have the same content.
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
