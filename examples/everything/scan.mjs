console.log(JSON.stringify({ files: ["pay.ts", "mail.ts", "login.ts"] }));
