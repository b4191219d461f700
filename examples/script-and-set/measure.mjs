console.log(JSON.stringify({ file: "pay.ts", untested: 12 }));
