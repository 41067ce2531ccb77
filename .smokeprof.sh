cd /work/main; rm -rf /tmp/prof; mkdir -p /tmp/prof
NODE_ENV=production node --import tsx --conditions=source --cpu-prof --cpu-prof-dir=/tmp/prof .smoke.ts 1 ${1:-1000} 2>&1 | grep -v npm | tail -2
node -e "
const fs=require('fs');const f=fs.readdirSync('/tmp/prof')[0];const p=JSON.parse(fs.readFileSync('/tmp/prof/'+f));
const self=new Map();const dt=p.timeDeltas;const id=new Map(p.nodes.map(n=>[n.id,n]));let tot=0;
p.samples.forEach((s,i)=>{const n=id.get(s);const k=n.callFrame.functionName+' '+n.callFrame.url.replace('file:///work/main/','').split('/').slice(-2).join('/')+':'+n.callFrame.lineNumber;self.set(k,(self.get(k)||0)+dt[i]);tot+=dt[i]});
console.log('total ms',tot/1000);[...self].sort((a,b)=>b[1]-a[1]).slice(0,45).forEach(([k,v])=>console.log((v/tot*100).toFixed(1)+'%',k));"
