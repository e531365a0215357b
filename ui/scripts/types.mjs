// Writes the types of the API from the schema that the service commits. The first line records which
// schema it was, so that a Python test can tell when the types are older.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

const schema = new URL("../../src/karat/extensions/service/api/openapi.json", import.meta.url);
const types = new URL("../src/api/schema.d.ts", import.meta.url);

const digest = createHash("sha256").update(readFileSync(schema)).digest("hex");
writeFileSync(types, `// openapi.json ${digest}\n${astToString(await openapiTS(schema))}`);
