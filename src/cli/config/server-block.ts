import { z } from "zod";
import { ROLES, type Role } from "../../server/access/permission.ts";
import { isAddressOrNetwork } from "../../server/hardening/client-address.ts";
import { isOrigin } from "../../server/hardening/origin.ts";

const rate = z.strictObject({
  per_second: z.number().positive().describe("requests per second, sustained"),
  burst: z.number().int().positive().describe("requests at once"),
});

const roles = Object.keys(ROLES) as [Role, ...Role[]];

/** The settings of `holdfast serve`. */
export const serverBlock = z
  .strictObject({
    host: z.string().min(1).optional().describe("Address to listen on; default 127.0.0.1"),
    port: z.number().int().min(0).max(65_535).optional().describe("Default 4100; 0 takes a free one"),
    tls_cert: z.string().optional().describe("File with the certificate"),
    tls_key: z.string().optional().describe("File with its key"),
    behind_proxy: z.boolean().optional().describe("true: a proxy in front of it has TLS"),
    trusted_proxies: z
      .array(z.string().refine(isAddressOrNetwork, "must be an address or a network such as 10.0.0.0/8"))
      .optional()
      .describe("Proxies whose X-Forwarded-For is believed"),
    allow_hosts: z.array(z.string().min(1)).optional().describe("Names that requests may be sent to"),
    allow_origins: z
      .array(z.string().refine(isOrigin, "must be an exact origin such as https://ops.example.com"))
      .optional()
      .describe("Other web pages that may call it"),
    oidc: z
      .strictObject({
        issuer: z.string(),
        audience: z.string(),
        jwks_uri: z.string().optional(),
        algorithms: z.array(z.string()).optional(),
        actor_claim: z.string().optional(),
        roles_claim: z.string(),
        roles: z.record(z.string(), z.enum(roles)),
      })
      .optional()
      .describe("Sign in with tokens of an OpenID Connect issuer"),
    limits: z
      .strictObject({
        per_token: rate.optional(),
        per_address: rate.optional(),
        streams_per_token: z.number().int().positive().optional(),
        streams: z.number().int().positive().optional(),
        connections: z.number().int().positive().optional(),
      })
      .optional(),
  })
  .describe("holdfast serve: where it listens, who may call it");

export type ServerBlock = z.infer<typeof serverBlock>;
